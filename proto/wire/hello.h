/* SPDX-License-Identifier: BSD-3-Clause */
/* The greeting. */
#ifndef PROTO_HELLO_H
#define PROTO_HELLO_H

#include <stdint.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"

enum { PROTO_VERSION = 1 };

/* X(name): in the order in which they are sent */
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
    uint32_t capabilities; /* bit 1 << enum capability; unknown ones are not kept */
    uint64_t line, fds, jobs, job_bytes, buffers, buffer_bytes, prepared; /* limits */
};

/** A whole line; protocol, capabilities, line and fds are what this build has, whatever *hello
 *  says. */
void hello_write_line(struct jsonw *w, const struct hello *hello);
/** The "params" of the notification "hello". Returns 0 or -1 (fault). Unknown members are skipped.
 */
int hello_read(const struct json *params, struct hello *hello);

#endif /* PROTO_HELLO_H */
