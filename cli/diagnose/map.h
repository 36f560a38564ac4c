/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A map from the coordinates of a tensor to those of a reference tensor: each dimension of the
 * reference follows one dimension of the tensor, with an offset and a step. Every move is such a
 * map from its output to its source, and most mistakes in a move are other maps.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/diagnose/elements.h"
#include "cli/term/phrase.h"

/* A map says which element of a reference tensor an element is equal to. This is the value that it
 * gives if that element is outside the reference. */
enum map_outside { MAP_UNKNOWN, MAP_ZERO, MAP_WRAP, MAP_EDGE };

/* Coordinate d of the reference is first[d] + step[d] * at[axis[d]]. */
struct map {
    uint32_t rank; /* rank of the reference */
    uint8_t axis[MLI_MAX_RANK];
    int64_t first[MLI_MAX_RANK], step[MLI_MAX_RANK];
    enum map_outside outside;
};

/** Returns the map that gives each element the element of the reference at the same coordinates. */
struct map map_identity(uint32_t rank);

/**
 * Computes the coordinate in the reference that belongs to `at`. Returns false if it is outside the
 * reference and `outside` is MAP_UNKNOWN or MAP_ZERO.
 */
bool map_place(const struct map *map, const struct elements *reference, const uint32_t *at,
               uint32_t place[MLI_MAX_RANK]);

/** Computes the bits that the map predicts at `at`. Returns false if it predicts nothing. */
bool map_word(const struct map *map, const struct elements *reference, const uint32_t *at,
              uint32_t *word);

/** Returns whether two maps give equal results for all coordinates below `shape`. */
bool map_same(const struct map *a, const struct map *b, const uint32_t *shape);

/**
 * Adds the map as text to the phrase, such as "src[j, i + 1]": this element of the reference
 * belongs to the element [i, j]. `shape` is the shape of the tensor with the elements [i, j, ...].
 */
void map_add(struct phrase *phrase, const struct map *map, const char *reference,
             const uint32_t *shape);
