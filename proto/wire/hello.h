/* SPDX-License-Identifier: BSD-3-Clause */
/* The notification "hello", the service's first line on a connection. */
#ifndef PROTO_HELLO_H
#define PROTO_HELLO_H

#include <stdint.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"

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
 * Writes the notification as a whole line. Ignores hello's protocol, capabilities, line and fds,
 * because these are those of this build.
 */
void hello_write_line(struct jsonw *w, const struct hello *hello);
/** Reads the params of the notification "hello". Returns 0 or -1 (fault); skips unknown members. */
int hello_read(const struct json *params, struct hello *hello);

#endif /* PROTO_HELLO_H */
