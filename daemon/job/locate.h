/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds and checks the memory of a job's tensors: descriptors that came with it, or buffers. */
#ifndef DAEMON_LOCATE_H
#define DAEMON_LOCATE_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/job/operands.h"
#include "daemon/memory/buffer.h"
#include "proto/wire/job_calls.h"

/* A job and all that locating its tensors needs. */
struct located_job {
    const struct job *job;
    const struct operands *operands;
    const struct buffers *buffers; /* buffers of the job's connection */
    const int *fds;
    size_t fd_count;
    uint64_t bytes_max;            /* limit limits.job_bytes */
    uid_t uid;                     /* uid of the job's user */
    const struct board_use *board; /* null: the service has no target profile */
    enum places_user user;
};

/**
 * Maps the descriptors, finds the buffers, and checks that they have all bytes that the job reads
 * and writes, and that these do not overlap. Places tensors in memories of the board. Returns 0, or
 * -1 with *fault filled. *places must be empty; call places_finish() also on failure.
 */
int locate_job(struct places *places, const struct located_job *job, struct fault *fault);

/* A start of a prepared job, and all that locating its tensors needs. */
struct located_start {
    const struct places *own; /* places of the prepared job */
    const struct work *work;
    const struct buffers *buffers; /* buffers of the job's connection */
    const struct board *board;     /* null: the service has no target profile */
    const struct job_start *start;
};

/** Does the same for a start of a prepared job, which keeps its memories of the board. */
int locate_start(struct places *places, const struct located_start *start, struct fault *fault);

/** Fills tensors for libmli from the operands and their memory. */
void locate_tensors(const struct places *places, const struct operands *operands, mli_tensor *src,
                    mli_tensor *dst);

#endif /* DAEMON_LOCATE_H */
