/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "proto/wire/events.h"
#include "proto/wire/wire_limits.h"

static const char *const capability_names[] = {
#define CAPABILITY_NAME(name) #name,
    CAPABILITY_TABLE(CAPABILITY_NAME)
#undef CAPABILITY_NAME
        NULL};

/* To add a limit of a connection, add it here and to struct hello. */
static const struct member limit_members[] = {
#define COUNT(field) MEMBER_COUNT(struct hello, field, #field)
    COUNT(line),    COUNT(fds),          COUNT(jobs),     COUNT(job_bytes),
    COUNT(buffers), COUNT(buffer_bytes), COUNT(prepared), {0},
};

static const struct member hello_members[] = {
    COUNT(protocol),
    MEMBER(struct hello, version, "version", KIND_TEXT, .optional = false),
    COUNT(client),
    {0},
};

void hello_write_line(struct jsonw *w, const struct hello *hello)
{
    struct hello said = *hello;

    said.protocol = PROTO_VERSION;
    said.line = PROTO_LINE_MAX;
    said.fds = PROTO_FDS_MAX;
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "jsonrpc", "2.0");
    jsonw_string(w, "method", "hello");
    jsonw_object_begin(w, "params");
    members_write(w, hello_members, &said);
    words_write(w, "capabilities", capability_names, UINT32_MAX);
    members_write_object(w, "limits", limit_members, &said);
    jsonw_object_end(w);
    jsonw_object_end(w);
    jsonw_newline(w);
}

static int read_capabilities(const struct json *array, uint32_t *capabilities)
{
    struct json item = {0};
    const char *text;
    size_t count;

    if (json_array(array, &count) < 0)
        return -1;
    while (json_next(array, &item)) {
        if (json_text(&item, PROTO_NAME_MAX, &text) < 0)
            return -1;
        for (size_t i = 0; capability_names[i]; i++) {
            if (strcmp(text, capability_names[i]) == 0)
                *capabilities |= UINT32_C(1) << i;
        }
    }
    return 0;
}

int hello_read(const struct json *params, struct hello *hello)
{
    struct json capabilities = json_member(params, "capabilities");
    struct json limits = json_member(params, "limits");

    *hello = (struct hello){0};
    if (members_read_open(hello, hello_members, params) < 0 ||
        read_capabilities(&capabilities, &hello->capabilities) < 0)
        return -1;
    return members_read_open(hello, limit_members, &limits);
}

enum { INTERVAL_MIN_MS = 20, INTERVAL_MS = 250, INTERVAL_MAX_MS = 60 * 1000 };

static const char *const event_names[] = {
#define EVENT_NAME(name, word) word,
    EVENT_TABLE(EVENT_NAME)
#undef EVENT_NAME
        NULL};

static const char *const scope_names[] = {"connection", "user", "all", NULL};

static const struct member subscribe_members[] = {
    {.key = "events", .kind = KIND_OTHER},
    MEMBER(struct events_subscribe, scope, "scope", KIND_WORD, .words = scope_names,
           .optional = true),
    NUMBER(struct events_subscribe, interval_ms, "interval_ms", INTERVAL_MIN_MS, INTERVAL_MAX_MS,
           INTERVAL_MS),
    {0},
};

int events_subscribe_read(const struct json *params, struct events_subscribe *call)
{
    struct json events = json_member(params, "events");

    call->events = 1u << EVENT_QUEUED | 1u << EVENT_STARTED | 1u << EVENT_DONE;
    members_default(call, subscribe_members);
    if (members_read_closed(call, subscribe_members, params) < 0)
        return -1;
    return json_present(&events) ? words_read(&events, event_names, &call->events) : 0;
}

void events_subscribe_write(struct jsonw *w, const struct events_subscribe *call)
{
    struct events_subscribe given = *call;

    if (given.interval_ms == 0)
        given.interval_ms = INTERVAL_MS;
    events_write(w, "events", given.events);
    members_write(w, subscribe_members, &given);
}

void events_write(struct jsonw *w, const char *key, uint32_t events)
{
    words_write(w, key, event_names, events);
}

static const struct member event_members[] = {
    MEMBER(struct event, kind, "event", KIND_WORD, .words = event_names),
    MEMBER_COUNT(struct event, time_ns, "time_ns"),
    MEMBER_COUNT(struct event, dropped, "dropped"),
    {0},
};

void event_write_line(struct jsonw *w, const struct event *event)
{
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "jsonrpc", "2.0");
    jsonw_string(w, "method", "event");
    jsonw_object_begin(w, "params");
    members_write(w, event_members, event);
    job_info_write(w, "job", &event->job);
    jsonw_object_end(w);
    jsonw_object_end(w);
    jsonw_newline(w);
}

int event_read(const struct json *params, struct event *event)
{
    struct json job = json_member(params, "job");

    *event = (struct event){0};
    if (members_read_open(event, event_members, params) < 0)
        return -1;
    return job_info_read(&job, &event->job);
}
