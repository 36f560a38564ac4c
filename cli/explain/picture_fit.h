/* SPDX-License-Identifier: BSD-3-Clause */
/* How many cells a picture has so that it fits where it is drawn. */
#ifndef CLI_PICTURE_FIT_H
#define CLI_PICTURE_FIT_H

#include "cli/explain/picture.h"

/** Lays a picture out with this room, and says whether it fits. */
typedef bool picture_fit_fn(void *state, const struct picture_room *room);

/** Rows and columns of planes: from `most` to `least`; `edges`: as of a picture_room, at least. */
struct picture_fit_range {
    size_t most, least, edges;
};

/**
 * Tries rooms, those with more cells first, until one fits. Returns false where none does; the last
 * one tried is the smallest.
 */
bool picture_fit(picture_fit_fn *fits, void *state, const struct picture_fit_range *range);

#endif /* CLI_PICTURE_FIT_H */
