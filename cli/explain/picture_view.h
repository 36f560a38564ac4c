/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dimensions of a tensor that are the rows and the columns of its picture: by default the last
 * two, or the two before a small last dimension, which is taken for the channels of an image (HWC).
 */
#ifndef CLI_PICTURE_VIEW_H
#define CLI_PICTURE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "mli_explain.h"
#include "proto/json/fault.h"

/* Dimensions of one tensor of rank 2 or more. */
struct picture_view {
    uint32_t rows, columns;
};

struct picture_views {
    struct picture_view src, dst;
};

/**
 * Returns the default views of a move. A last dimension of up to 4 elements is taken for channels
 * if the two dimensions before it are longer; padding and window do not count.
 */
struct picture_views picture_views_default(const mli_explanation *move);

/**
 * Reads views as --view takes them, for this move: "0,1" (rows, columns; negative dimensions count
 * from the last) or a layout with a letter for each dimension, of which H is rows and W columns. A
 * second one, behind a colon, is for the destination; without it the destination shows the
 * dimensions that the source's rows and columns become, the outer one as rows. Returns 0 or -1.
 */
int picture_views_parse(const char *text, const mli_explanation *move, struct picture_views *views,
                        struct fault *fault);

#endif /* CLI_PICTURE_VIEW_H */
