/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ways to stream what a walk moves in one iteration of the loops around. Each tells which walks
 * it is for, and then does what walk_move() does.
 */
#ifndef MLI_EXEC_STAGE_WAYS_H
#define MLI_EXEC_STAGE_WAYS_H

#include <stdbool.h>

#include "libmli/src/exec/walk.h"

/* Transposes with many rows, and long ones, that lie apart. */
bool stage_is_matrix(const struct walk *walk);
void stage_matrix(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                  const uint8_t *src);

/* Transposes whose rows or columns are those of two loops, with rows that fill lines. */
bool stage_is_panel(const struct walk *walk);
void stage_panel(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                 const uint8_t *src);

/* Transposes to short rows that follow one another. */
bool stage_is_pixels(const struct walk *walk);
void stage_pixels(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                  const uint8_t *src);

/* Rows of which those beside them in the source come next. */
bool stage_is_bursts(const struct walk *walk);
void stage_bursts(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                  const uint8_t *src);

/* Rows and gathers in the order of the destination. */
bool stage_is_nest(const struct walk *walk);
void stage_nest(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                const uint8_t *src);

#endif /* MLI_EXEC_STAGE_WAYS_H */
