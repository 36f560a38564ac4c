/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways to divide each axis of a layer into tiles, which the search combines. */
#ifndef TARGET_TILE_DIVISION_H
#define TARGET_TILE_DIVISION_H

#include "target/tile/tile_plan.h"

/* One way to divide an axis. */
struct tile_division {
    struct tile_cut cut;
    uint64_t elements[TILE_OPERANDS]; /* elements that all tiles need, added up */
};

/* The ways to divide an axis, those with the largest tiles first. */
struct tile_divisions {
    struct tile_division *division; /* owned */
    size_t count, capacity;
};

/**
 * Fills the lists of all axes, which are empty before, with the divisions whose tiles may fit into
 * `budget` bytes. If there are too many combinations, it leaves some divisions out and sets
 * *exhaustive to false. Returns 0, or -1 if out of memory. Free the lists in both cases.
 */
int tile_divisions_list(struct tile_divisions axis[TILE_AXES], const struct tile_layer *layer,
                        uint64_t budget, bool *exhaustive);

/** Frees the lists. */
void tile_divisions_free(struct tile_divisions axis[TILE_AXES]);

#endif /* TARGET_TILE_DIVISION_H */
