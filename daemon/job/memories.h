/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job's tensors in the memories of the board: checks the rules of the target profile, and places
 * the tensors of descriptors that name a memory. Tensors in buffers are where the buffers are.
 */
#ifndef DAEMON_MEMORIES_H
#define DAEMON_MEMORIES_H

#include "daemon/job/operands.h"
#include "daemon/memory/buffer.h"

/**
 * Checks both tensors of a job after their places are located, and places them. The region of a
 * tensor gives its piece back when its last holder leaves. Returns 0, or -1 with *fault filled:
 * REFUSED (a rule), NO_ROOM, LIMIT (a quota) or INVALID_PARAMS (no such memory).
 */
int memories_place(const struct places *places, const struct job *job,
                   const struct operands *operands, const struct board_use *use,
                   struct fault *fault);

/** Checks both tensors of a start of a prepared job, after buffers or offsets have changed. */
int memories_check(const struct places *places, const struct job *job,
                   const struct operands *operands, const struct board *board, struct fault *fault);

#endif /* DAEMON_MEMORIES_H */
