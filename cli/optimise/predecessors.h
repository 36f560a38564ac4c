/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "after" of the jobs that stay. A job that waited for a removed job waits for the predecessors of
 * the removed job; and a job that overwrites the source of a fused move waits for this move, which
 * may read it later than the removed job did.
 */
#ifndef CLI_PREDECESSORS_H
#define CLI_PREDECESSORS_H

#include "cli/optimise/program.h"
#include "proto/wire/wire_limits.h"

struct predecessors {
    size_t *list; /* steps, ascending */
    size_t count, capacity;
};

/**
 * Finds the predecessors of each step of the program: (*found)[i] are those of step i, also of a
 * removed one. Returns 0, or -1 without memory. If a step would have more than JOB_AFTER_MAX, sets
 * *full to it, else to NONE.
 */
int predecessors_find(struct program *p, struct predecessors **found, size_t *full);
void predecessors_finish(struct predecessors *found, size_t count);

#endif /* CLI_PREDECESSORS_H */
