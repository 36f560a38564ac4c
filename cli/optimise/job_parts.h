/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs that read what several jobs wrote, as after a concatenation. Such a job is split into parts,
 * each of which reads what one job wrote: each part may then be fused with that job. Only jobs that
 * write a buffer are split, because a new file appears whole.
 */
#ifndef CLI_JOB_PARTS_H
#define CLI_JOB_PARTS_H

#include "cli/optimise/program.h"

enum { SPLIT_PARTS_MAX = 8 };

/* The number of all steps that can be split, for split_mark(). */
#define SPLIT_ALL SIZE_MAX

/**
 * Sets the parts of the steps whose split may save a job, or of one of them: `which` counts them
 * from 0. All steps are alive. Returns the number of steps that were split, or -1 without memory.
 */
int split_mark(struct program *p, size_t which, size_t *count);
/** Removes all parts. */
void split_unmark(struct program *p);

/** Returns the map of a part of a step. */
struct index_map split_map(const struct program_step *step, size_t part);

#endif /* CLI_JOB_PARTS_H */
