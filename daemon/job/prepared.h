/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prepared jobs: checked once and started many times. A start is a task that shares the work and
 * holds the memory, and so continues if the prepared job is released meanwhile.
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

/* Maximum bytes of the prepared jobs of one connection. A short request may describe many per-axis
 * parameters. */
enum { PREPARED_PARAMETERS_MAX = 4 * 1024 * 1024 };

/* A connection's prepared jobs. Zeros are an empty set. */
struct prepared_jobs {
    struct numbered table; /* table of struct prepared */
    uint64_t parameters;   /* bytes of per-axis parameters */
};

/** Releases the latest prepared job. Without any prepared job, frees the table; returns false. */
bool prepared_release_last(struct session *session);

/**
 * Prepares a job (job.prepare): makes every check that a start would make, and maps the
 * descriptors, which stay the caller's. Returns NULL with the fault of `params` filled.
 */
struct prepared *prepared_create(struct session *session, const struct json *params, const int *fds,
                                 size_t count);

/** Makes a task of a prepared job (job.start), as admit() does. Returns NULL with *fault filled. */
struct task *prepared_start(struct session *session, const struct job_start *start,
                            struct fault *fault);

/** Releases a prepared job. Returns 0, or -1 if the session has no such prepared job. */
int prepared_release(struct session *session, uint32_t number);

#endif /* DAEMON_PREPARED_H */
