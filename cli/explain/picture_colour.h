/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The colour of a sample: the same in the source and in the destination, so that the eye can follow
 * it. The dimension that is to be followed first gives the hue, the next the tint, then the shade,
 * then a touch of the neighbouring hue. Whole numbers only: it is the same everywhere.
 */
#ifndef CLI_PICTURE_COLOUR_H
#define CLI_PICTURE_COLOUR_H

#include "cli/explain/picture.h"

struct picture_colour {
    uint8_t red, green, blue;
};

/** `sample` by source dimension. */
struct picture_colour picture_colour(const struct picture *picture, const uint64_t *sample);

/** The nearest of xterm's colours 16 to 231 to the sample's hue, without tint and shade: it can be
 *  read on light and on dark terminals. */
unsigned picture_colour_palette(const struct picture *picture, const uint64_t *sample);

/** Whether text on it has to be light. */
bool picture_colour_is_dark(struct picture_colour colour);

#endif /* CLI_PICTURE_COLOUR_H */
