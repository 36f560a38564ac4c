/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs that are checked once and started often. A start is a task that shares the work and holds
 * the memory it uses, so that it goes on when the prepared job is released under it.
 */
#ifndef DAEMON_PREPARED_H
#define DAEMON_PREPARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/numbered.h"
#include "daemon/memory/buffer.h"

struct job_start;
struct json;
struct session;
struct task;
struct work;

struct prepared {
    uint32_t number;
    struct work *work; /* held */
    struct places places;
};

/* Per-axis parameters may be many more than the bytes that asked for them. */
enum { PREPARED_PARAMETERS_MAX = 4 * 1024 * 1024 };

/* A connection's prepared jobs. Zeros are an empty one. */
struct prepared_jobs {
    struct numbered table; /* struct prepared */
    uint64_t parameters;   /* bytes of them */
};

/** Releases the latest prepared job. Without any prepared job, frees the table; returns false. */
bool prepared_release_last(struct session *session);

/**
 * job.prepare: makes every check that a start would make, and maps what came as descriptors, which
 * stay the caller's. Returns null with the fault of `params` filled.
 */
struct prepared *prepared_create(struct session *session, const struct json *params, const int *fds,
                                 size_t count);

/** job.start: a task, as admit() gives one. Null with *fault filled. */
struct task *prepared_start(struct session *session, const struct job_start *start,
                            struct fault *fault);

/** job.release. Returns 0, or -1 where there is no such prepared job. */
int prepared_release(struct session *session, uint32_t number);

#endif /* DAEMON_PREPARED_H */
