/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Do two sets of strided elements share a byte? A lattice is the set of sums x[i] * stride[i] with
 * each x[i] in [lo, hi]. Questions about it are answered exactly where a bounded search can tell
 * (which is always, but for layouts that interleave many times over), and with "yes" elsewhere:
 * what cannot be shown to be apart is treated as overlapping.
 */
#ifndef MLI_OVERLAP_H
#define MLI_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

#include "mli_types.h"

struct lattice_term {
    int64_t stride; /* in bytes, > 0 */
    int64_t lo, hi; /* lo <= 0 <= hi, not both 0 */
};

struct lattice {
    uint32_t count;
    struct lattice_term term[2 * MLI_MAX_RANK]; /* by falling stride */
};

/** Adds a term; one that cannot move is left out, one of a stride already there is merged. */
void lattice_add(struct lattice *lattice, uint64_t stride, int64_t lo, int64_t hi);

/** Is there a point p with |p - target| < width? */
bool lattice_reaches(const struct lattice *lattice, int64_t target, int64_t width);

/** Do two different coordinates (all terms from 0 to hi) lead to the same point? */
bool lattice_meets_itself(const struct lattice *lattice);

#endif /* MLI_OVERLAP_H */
