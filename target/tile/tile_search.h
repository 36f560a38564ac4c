/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways to divide each axis of a layer into tiles, which the search combines. */
#ifndef TARGET_TILE_TILE_SEARCH_H
#define TARGET_TILE_TILE_SEARCH_H

#include "target/tile/tile_plan.h"

/* One way to divide an axis. */
struct tile_division {
    struct tile_cut cut;
    uint64_t elements[TILE_OPERANDS]; /* elements that all tiles need, added up */
};

#endif /* TARGET_TILE_TILE_SEARCH_H */
