/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The notifications "hello" and "event", and events.subscribe, with the conventions of methods.h.
 *
 * To add an event, start here: add it to EVENT_TABLE and to PROTOCOL.md; daemon/job emits events,
 * mli_client.h (enum mli_client_event_kind) and chrome_trace.c receive them.
 */
#pragma once

#include <stdint.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/job.h"

/* The notification "hello", the service's first line on a connection. */

enum { PROTO_VERSION = 1 };

/*
 * X(name): the capabilities, in the order on the wire. To add a capability, add it here and to
 * PROTOCOL.md.
 */
#define CAPABILITY_TABLE(X) X(after) X(buffers) X(cancel) X(detach) X(drain) X(events) X(prepared)

enum capability {
#define CAPABILITY_ENUM(name) CAPABILITY_##name,
    CAPABILITY_TABLE(CAPABILITY_ENUM)
#undef CAPABILITY_ENUM
};

struct hello {
    uint32_t protocol;
    char version[32];
    uint64_t client;
    uint32_t capabilities; /* bits 1 << enum capability; unknown capabilities are dropped */
    uint64_t line, fds, jobs, job_bytes, buffers, buffer_bytes, prepared; /* limits */
};

/**
 * Writes the notification as a whole line. Ignores hello's protocol, capabilities, line and fds:
 * writes the values of this build instead.
 */
void hello_write_line(struct jsonw *w, const struct hello *hello);
/** Reads the params of the notification "hello". Returns 0 or -1 (fault); skips unknown members. */
int hello_read(const struct json *params, struct hello *hello);

/* The notification "event". */

#define EVENT_TABLE(X)                                                                             \
    X(QUEUED, "queued")                                                                            \
    X(STARTED, "started")                                                                          \
    X(PROGRESS, "progress")                                                                        \
    X(DONE, "done")

enum event_kind {
#define EVENT_ENUM(name, word) EVENT_##name,
    EVENT_TABLE(EVENT_ENUM)
#undef EVENT_ENUM
        EVENT_COUNT
};

enum event_scope { EVENT_SCOPE_CONNECTION, EVENT_SCOPE_USER, EVENT_SCOPE_ALL };

struct events_subscribe {
    uint32_t events; /* bits 1 << enum event_kind; 0 ends the subscription */
    enum event_scope scope;
    uint32_t interval_ms;
};
int events_subscribe_read(const struct json *params, struct events_subscribe *call);
void events_subscribe_write(struct jsonw *w, const struct events_subscribe *call);
/** Writes `events` as an array of names: the only member of the result of events.subscribe. */
void events_write(struct jsonw *w, const char *key, uint32_t events);

struct event {
    enum event_kind kind;
    uint64_t time_ns;
    uint64_t dropped;
    struct job_info job;
};
/** Writes the notification "event" as a whole line. */
void event_write_line(struct jsonw *w, const struct event *event);
/**
 * Reads the params of the notification "event". Returns 0 or -1 (fault). Do not copy *event: it may
 * contain a pointer to itself (job.error).
 */
int event_read(const struct json *params, struct event *event);
