/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes that a move reads or writes in one tensor: equal runs inside strided loops. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mli_explain.h"

struct byte_set_loop {
    uint64_t count; /* at least 2 */
    uint64_t step;  /* step in bytes, at least 1 */
};

/* Bytes begin + sum of i[k] * step[k] + (0 .. run - 1), for all i[k] < count[k]. Loops are ordered
 * from the largest step to the smallest. */
struct byte_set {
    uint64_t begin, run; /* run = 0: the set is empty */
    uint32_t loops;
    struct byte_set_loop loop[MLI_MAX_RANK];
};

/**
 * Returns the set of the bytes of a run of `run` bytes inside `count` loops in any order; the
 * empty set if the count of a loop is 0.
 */
struct byte_set byte_set_of(uint64_t begin, uint64_t run, const struct byte_set_loop *loops,
                            uint32_t count);
/** Returns the bytes that a move reads; `base`: the offset of the source's first element. */
struct byte_set byte_set_read(const mli_explanation *move, uint64_t base);
/** Returns the bytes that a move writes; `base`: the offset of the destination's first element. */
struct byte_set byte_set_written(const mli_explanation *move, uint64_t base);

/** Returns the offset after the last byte of a set. */
uint64_t byte_set_end(const struct byte_set *set);

/**
 * Returns whether two sets have a byte in common. *budget limits the steps of the search, and each
 * step lowers it; at 0, the result is true without proof.
 */
bool byte_sets_meet(const struct byte_set *a, const struct byte_set *b, uint64_t *budget);
