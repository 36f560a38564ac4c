/* SPDX-License-Identifier: BSD-3-Clause */
/* Random layers, and a walk over the tiles of a plan that counts the traffic element by element. */
#ifndef TEST_TILE_CASES_H
#define TEST_TILE_CASES_H

#include "target/tile/tile_plan.h"
#include "tests/support/rng.h"

/* Makes a random small layer of any kind, with extents up to `most`. Returns false if it is not
 * legal. */
bool tile_case_layer(struct tile_layer *layer, struct rng *rng, uint32_t most);

/* A division of a layer into tiles (ranges of each axis), not necessarily that of a plan. */
struct tile_division {
    const struct tile_layer *layer;
    uint64_t count[TILE_AXES];
    uint64_t begin[TILE_AXES][65]; /* first index of each range; then the extent */
    uint8_t order[TILE_AXES];
};

/* Walks all loops of a division. Returns the number of bytes that they move, in total and by
 * operand. */
uint64_t tile_case_walk(const struct tile_division *division, uint64_t bytes[TILE_OPERANDS]);

/* Returns the division into tiles that a plan uses. */
struct tile_division tile_case_division(const struct tile_plan *plan);

/*
 * Returns the least traffic of all integer tile sizes and loop orders that fit, with the remainder
 * in the last tile of an axis; UINT64_MAX if none fits.
 */
uint64_t tile_case_exhaustive(const struct tile_layer *layer, const struct tile_memory *memory);

#endif /* TEST_TILE_CASES_H */
