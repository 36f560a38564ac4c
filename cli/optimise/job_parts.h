/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs that read what several jobs wrote, as after a concatenation. Such a job is split into
 * parts, each of which reads what one job wrote: each part may then be fused with that job. Only
 * jobs that write a buffer are split, because one job must write a whole file.
 */
#pragma once

#include "cli/optimise/program.h"

enum { SPLIT_PARTS_MAX = 8 };

/* `which` of split_mark(): all steps whose split may save a job. */
#define SPLIT_ALL SIZE_MAX

/**
 * Sets the parts of each step whose split may save a job, or of step number `which` (from 0) of
 * these steps. All steps must be alive. Sets *count to the number of steps that were split.
 * Returns 0, or -1 if out of memory.
 */
int split_mark(struct program *p, size_t which, size_t *count);
/** Removes all parts. */
void split_unmark(struct program *p);

/** Returns the map of a part of a step. */
struct index_map split_map(const struct program_step *step, size_t part);
