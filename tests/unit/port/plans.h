/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes random plans, and records which bytes they move, to test functions that cut plans. */
#ifndef TEST_PLANS_H
#define TEST_PLANS_H

#include <stdbool.h>

#include "mli_plan.h"
#include "tests/support/rng.h"

enum { PLAN_SRC_BYTES = 1 << 20, PLAN_DST_BYTES = 1 << 20 };

/* Plans point into these buffers. No test reads or writes the buffers. */
extern uint8_t plan_src[PLAN_SRC_BYTES + 64], plan_dst[PLAN_DST_BYTES + 64];

/* For each destination byte: its source, and how often it was written. */
struct moved {
    int32_t from[PLAN_DST_BYTES]; /* offset of its source byte in plan_src; MOVED_ZERO: a zero */
    uint8_t times[PLAN_DST_BYTES];
    size_t bytes; /* sum of times[] */
    size_t end;   /* end of the bytes to compare */
};

enum { MOVED_ZERO = -1 };

/*
 * Makes a random plan with up to nine disjoint descriptors, with or without a copy, of up to four
 * loops each.
 */
void plan_random(struct mli_plan *plan, struct rng *rng);

/*
 * Makes a plan with one copy at plan_dst + misalignment that has exactly the loops loop[].
 */
void plan_one_box(struct mli_plan *plan, size_t misalignment, size_t run, size_t loops,
                  const struct mli_copy_loop *loop);

/* Returns a descriptor as a box; the box of a fill has no src. */
struct mli_copy_box plan_descriptor(const struct mli_plan *plan, uint32_t index);

/* Returns the start of a row of a box; *src is null for a fill. */
void plan_row(const struct mli_copy_box *box, uint64_t row, const uint8_t **src, uint8_t **dst);

uint64_t plan_rows(const struct mli_copy_box *box);

void moved_clear(struct moved *moved);
void moved_add_box(struct moved *moved, const struct mli_copy_box *box);
void moved_add_plan(struct moved *moved, const struct mli_plan *plan);

/* Returns whether both plans write each byte once, and from the same sources. */
bool moved_same(const struct moved *a, const struct moved *b);

void plan_print(const struct mli_plan *plan);

#endif /* TEST_PLANS_H */
