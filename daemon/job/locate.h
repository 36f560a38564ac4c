/* SPDX-License-Identifier: BSD-3-Clause */
/* From what a request says of its tensors' memory to that memory, with every check of it. */
#ifndef DAEMON_LOCATE_H
#define DAEMON_LOCATE_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/job/operands.h"
#include "daemon/memory/buffer.h"
#include "proto/wire/job_calls.h"

/* A job and what came with it. */
struct located_job {
    const struct job *job;
    const struct operands *operands;
    const struct buffers *buffers; /* of its connection */
    const int *fds;
    size_t fd_count;
    uint64_t bytes_max; /* that may be mapped for it */
    uid_t uid;          /* whose job it is */
    enum places_user user;
};

/**
 * Maps the descriptors, looks the buffers up, and makes sure that all that is read and written lies
 * there and apart. Returns 0, or -1 with *fault filled; *places, empty before, holds what it holds
 * in either case.
 */
int locate_job(struct places *places, const struct located_job *job, struct fault *fault);

/** The same for a start of a prepared job, whose own places are `own`. */
int locate_start(struct places *places, const struct places *own, const struct operands *operands,
                 const struct buffers *buffers, const struct job_start *start, struct fault *fault);

/** The operands' tensors with their memory, for libmli. */
void locate_tensors(const struct places *places, const struct operands *operands, mli_tensor *src,
                    mli_tensor *dst);

#endif /* DAEMON_LOCATE_H */
