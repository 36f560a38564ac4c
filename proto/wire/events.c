/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "proto/json/json.h"
#include "proto/wire/events.h"
#include "proto/wire/wire_limits.h"

static const char *const capability_names[] = {
#define CAPABILITY_NAME(name) #name,
    CAPABILITY_TABLE(CAPABILITY_NAME)
#undef CAPABILITY_NAME
        NULL};

/* To add a limit of a connection, add it here and to struct hello. */
#define LIMITS(X) X(line) X(fds) X(jobs) X(job_bytes) X(buffers) X(buffer_bytes) X(prepared)

void hello_write_line(struct jsonw *w, const struct hello *hello)
{
    struct hello said = *hello;

    said.line = PROTO_LINE_MAX;
    said.fds = PROTO_FDS_MAX;
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "jsonrpc", "2.0");
    jsonw_string(w, "method", "hello");
    jsonw_object_begin(w, "params");
    jsonw_uint(w, "protocol", PROTO_VERSION);
    jsonw_string(w, "version", said.version);
    jsonw_uint(w, "client", said.client);
    words_write(w, "capabilities", capability_names, UINT32_MAX);
    jsonw_object_begin(w, "limits");
#define WRITE(name) jsonw_uint(w, #name, said.name);
    LIMITS(WRITE)
#undef WRITE
    jsonw_object_end(w);
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
    if (json_object(params, NULL) < 0 || member_u32(params, "protocol", &hello->protocol) < 0 ||
        member_text(params, "version", hello->version, sizeof hello->version) < 0 ||
        member_u64(params, "client", &hello->client) < 0 ||
        read_capabilities(&capabilities, &hello->capabilities) < 0 ||
        json_object(&limits, NULL) < 0)
        return -1;
#define READ(name)                                                                                 \
    if (member_u64(&limits, #name, &hello->name) < 0)                                              \
        return -1;
    LIMITS(READ)
#undef READ
    return 0;
}

enum { INTERVAL_MIN_MS = 20, INTERVAL_MS = 250, INTERVAL_MAX_MS = 60 * 1000 };

static const char *const event_names[] = {
#define EVENT_NAME(name, word) word,
    EVENT_TABLE(EVENT_NAME)
#undef EVENT_NAME
        NULL};

static const char *const scope_names[] = {"connection", "user", "all", NULL};

int events_subscribe_read(const struct json *params, struct events_subscribe *call)
{
    static const char *const keys[] = {"events", "scope", "interval_ms", NULL};
    struct json events = json_member(params, "events"), scope = json_member(params, "scope");
    int64_t interval = INTERVAL_MS;
    size_t index = EVENT_SCOPE_CONNECTION;

    *call = (struct events_subscribe){
        .events = 1u << EVENT_QUEUED | 1u << EVENT_STARTED | 1u << EVENT_DONE,
    };
    if (params_object(params, keys) < 0 ||
        (json_present(&events) && words_read(&events, event_names, &call->events) < 0) ||
        (json_present(&scope) && json_choice(&scope, scope_names, &index) < 0) ||
        optional_int(params, "interval_ms", INTERVAL_MIN_MS, INTERVAL_MAX_MS, &interval) < 0)
        return -1;
    call->scope = (enum event_scope)index;
    call->interval_ms = (uint32_t)interval;
    return 0;
}

void events_subscribe_write(struct jsonw *w, const struct events_subscribe *call)
{
    events_write(w, "events", call->events);
    if (call->scope != EVENT_SCOPE_CONNECTION)
        jsonw_string(w, "scope", scope_names[call->scope]);
    if (call->interval_ms != 0 && call->interval_ms != INTERVAL_MS)
        jsonw_uint(w, "interval_ms", call->interval_ms);
}

void events_write(struct jsonw *w, const char *key, uint32_t events)
{
    words_write(w, key, event_names, events);
}

void event_write_line(struct jsonw *w, const struct event *event)
{
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "jsonrpc", "2.0");
    jsonw_string(w, "method", "event");
    jsonw_object_begin(w, "params");
    jsonw_string(w, "event", event_names[event->kind]);
    jsonw_uint(w, "time_ns", event->time_ns);
    jsonw_uint(w, "dropped", event->dropped);
    job_info_write(w, "job", &event->job);
    jsonw_object_end(w);
    jsonw_object_end(w);
    jsonw_newline(w);
}

int event_read(const struct json *params, struct event *event)
{
    struct json kind = json_member(params, "event"), job = json_member(params, "job");
    size_t index;

    *event = (struct event){0};
    if (json_object(params, NULL) < 0 || json_choice(&kind, event_names, &index) < 0 ||
        member_u64(params, "time_ns", &event->time_ns) < 0 ||
        member_u64(params, "dropped", &event->dropped) < 0)
        return -1;
    event->kind = (enum event_kind)index;
    return job_info_read(&job, &event->job);
}
