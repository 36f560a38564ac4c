/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole job on a board, for sums and remarks: a staged job is the sum of its three steps. */
#ifndef CLI_JOB_BOARD_H
#define CLI_JOB_BOARD_H

#include "cli/explain/explained_board.h"
#include "cli/job/buffer_places.h"
#include "cli/job/produced.h"

/* The board, and the job file. All pointers are borrowed. */
struct job_board_context {
    const struct target_profile *profile;
    const struct job_file *file;
    const struct buffer_places *buffers; /* the buffers of `file` on the board */
    const struct produced *produced;     /* files that count as existing; null: none */
};

/**
 * Places a resolved job of the file on the board, and computes its cost. The remarks of a staged
 * job are those of its permute. Returns 0, or -1 with the fault.
 */
int job_board_init(struct explained_board *board, const struct job_board_context *context,
                   const struct resolved *resolved, struct fault *fault);

#endif /* CLI_JOB_BOARD_H */
