/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ways to stream one iteration of a walk's outer loops. Each way has a function that returns
 * whether it can stream a walk, and a function that moves as walk_move() does. stage.c takes the
 * first way that can.
 */
#ifndef MLI_EXEC_STAGE_WAYS_H
#define MLI_EXEC_STAGE_WAYS_H

#include <stdbool.h>

#include "libmli/src/exec/walk.h"

/* Transposes with many long rows that are apart. */
bool stage_is_matrix(const struct walk *walk);
void stage_matrix(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                  const uint8_t *src);

/* Transposes with rows or columns from two loops, and rows of at least a cache line. */
bool stage_is_panel(const struct walk *walk);
void stage_panel(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                 const uint8_t *src);

/* Transposes to short rows that follow one another. */
bool stage_is_pixels(const struct walk *walk);
void stage_pixels(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                  const uint8_t *src);

/* Moves rows together with their neighbours in the source. */
bool stage_is_bursts(const struct walk *walk);
void stage_bursts(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                  const uint8_t *src);

/* Rows and gathers in the order of the destination. */
bool stage_is_nest(const struct walk *walk);
void stage_nest(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                const uint8_t *src);

#endif /* MLI_EXEC_STAGE_WAYS_H */
