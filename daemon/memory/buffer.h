/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that a client names again and again. Its connection holds a buffer until it releases it or
 * leaves; jobs and prepared jobs hold what they use, so that it is unmapped with the last of them.
 * Until then its bytes count for the connection and its user.
 */
#ifndef DAEMON_BUFFER_H
#define DAEMON_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/numbered.h"
#include "daemon/memory/region.h"
#include "proto/wire/buffer_calls.h"

struct flow;

struct buffer {
    uint32_t holders;
    uint32_t number;         /* of its connection */
    bool allocated;          /* by the service */
    uint32_t jobs, prepared; /* that use it now */
    struct region *region;
    struct flow *flow; /* which is charged; held */
};

/* What a connection may have. */
struct buffer_limits {
    uint32_t count;         /* of buffers */
    uint64_t bytes;         /* of a connection */
    uint64_t bytes_of_user; /* UINT64_MAX: no limit */
};

/* A connection's buffers. Zeros are an empty one. */
struct buffers {
    struct numbered table; /* struct buffer */
};

/** Releases the latest buffer. Without any buffer, frees the table and returns false. */
bool buffer_release_last(struct buffers *buffers);
/** Null where there is no such buffer. */
struct buffer *buffers_find(const struct buffers *buffers, uint32_t number);

/** Maps the client's descriptor, which stays the caller's. Null with *fault filled. */
struct buffer *buffer_register(struct buffers *buffers, struct flow *flow, int fd,
                               const struct buffer_register *call,
                               const struct buffer_limits *limits, struct fault *fault);

/** Makes a buffer of `size` > 0 zeros. Null with *fault filled; else *fd is the caller's. */
struct buffer *buffer_alloc(struct buffers *buffers, struct flow *flow, uint64_t size,
                            const struct buffer_limits *limits, int *fd, struct fault *fault);

/** The connection gives it up. Returns 0, or -1 where it has no such buffer. */
int buffer_release(struct buffers *buffers, uint32_t number);

void buffer_hold(struct buffer *buffer);
void buffer_drop(struct buffer *buffer);

void buffer_info_fill(struct buffer_info *info, const struct buffer *buffer);

#endif /* DAEMON_BUFFER_H */
