/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the measured cells and their time, and prints the progress. */
#ifndef BENCH_PLAN_H
#define BENCH_PLAN_H

#include "bench/moves/bench_options.h"
#include "bench/moves/race.h"

enum plan_kind { PLAN_LISTED, PLAN_NEIGHBOUR, PLAN_LEVELS };

bool plan_wants(const struct options *o, const struct bench_case *c);

/* Sets the number of rounds and the time budget of a race. */
void plan_rounds(const struct options *o, struct race *r, size_t bytes, enum plan_kind kind);

/* Returns the number of bytes that the largest wanted job needs. */
void plan_room(const struct options *o, const struct case_list *cases, size_t *src, size_t *dst);

/* Prints the progress on stderr if that is a terminal. */
void plan_progress(const char *part, const char *name, uint32_t elem, uint32_t kib);
void plan_progress_end(void);

#endif
