/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Do two sets of strided elements share a byte? A lattice is the set of sums x[i] * stride[i] with
 * each x[i] in [lo, hi]. A bounded search answers questions about a lattice exactly. If its budget
 * ends first, which happens only for layouts that interleave many times, the answer is "yes":
 * elements count as overlapping unless the search proves that they do not.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mli_types.h"

struct lattice_term {
    int64_t stride; /* stride in bytes, > 0 */
    int64_t lo, hi; /* lo <= 0 <= hi, not both 0 */
};

struct lattice {
    uint32_t count;
    struct lattice_term term[2 * MLI_MAX_RANK]; /* terms in the order of falling strides */
};

/** Adds a term. Leaves out a term that has only the value 0. */
void lattice_add(struct lattice *lattice, uint64_t stride, int64_t lo, int64_t hi);

/** Returns whether the lattice has a point in [from, to]. Merges terms. */
bool lattice_reaches(struct lattice *lattice, int64_t from, int64_t to);

/**
 * Returns whether two different coordinates have the same address. Every coordinate is from 0 to
 * the `hi` of its term. Changes the terms.
 */
bool lattice_meets_itself(struct lattice *lattice);
