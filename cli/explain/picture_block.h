/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The positions of a side's cells, in pixels or in characters, from the upper left corner of the
 * side's drawing:
 *
 *     top     captions
 *         [0, 0, :, :]   [0, 1, :, :]     a label above each plane
 *      0  # # # #        # # # #
 *      1  # # # #        # # # #          ticks beside the first plane of a line
 *      2  # # # #        # # # #
 *         0 1 2 3                         ticks below the first plane of the last line
 *     bottom  these ticks, and captions
 */
#ifndef CLI_PICTURE_BLOCK_H
#define CLI_PICTURE_BLOCK_H

#include "cli/explain/picture.h"

/** Returns the larger of two lengths. */
static inline int picture_larger(int a, int b)
{
    return a > b ? a : b;
}

/* The sizes of a drawing's parts. */
struct picture_metrics {
    int cell_width, cell_height;
    int break_width, break_height;       /* size of a break within a plane */
    int planes_left_out, lines_left_out; /* least width and height of a break between planes */
    int edge;                            /* width of a plane in addition to its cells */
    int across, down;                    /* space between planes, and between lines */
    int label;                           /* height */
    int left; /* space before the planes, without the width of the rows' ticks */
    int top, bottom;
    int (*text_width)(const char *text); /* returns the width of the text of a label or tick */
};

struct picture_block {
    const struct picture *picture;
    const struct picture_side *side;
    struct picture_metrics metrics;
    int column[PICTURE_SLOTS_MAX + 1], row[PICTURE_SLOTS_MAX + 1]; /* x and y in a plane */
    int plane[PICTURE_SLOTS_MAX];       /* x of each slot of PICTURE_PLANES */
    int plane_width[PICTURE_SLOTS_MAX]; /* width of each plane, with its label */
    bool folds;                         /* true: PICTURE_LINES has one slot, so planes wrap: */
    size_t fold[PICTURE_SLOTS_MAX];     /* the line of each plane */
    int line[PICTURE_SLOTS_MAX];        /* y of the cells in each line */
    size_t lines;
    int ticks; /* width of the rows' ticks */
    int left;  /* x of the first plane */
    int width, height;
};

struct picture_area {
    int x, y, width, height;
};

/** Lays out the planes of one side (source or destination). If planes wrap (block->folds), a plane
 * that would exceed `width` begins a new line of planes. */
void picture_block_init(struct picture_block *block, const struct picture *picture,
                        const struct picture_side *side, const struct picture_metrics *metrics,
                        int width);

/** Returns whether planes wrap to a second line although some planes are left out. */
bool picture_block_sprawls(const struct picture_block *block);

/** Returns the area of a plane's cells. */
struct picture_area picture_block_plane(const struct picture_block *block, size_t line,
                                        size_t plane);

/** Return whether this plane has the ticks of the rows, or of the columns. */
bool picture_block_row_ticks(const struct picture_block *block, size_t plane);
bool picture_block_column_ticks(const struct picture_block *block, size_t line, size_t plane);

/* The part of an axis that a tick's text covers; from == to: no text. */
struct picture_span {
    int from, to;
};

/**
 * Chooses ticks whose texts do not overlap: first those at an end of the axis or of the window,
 * then those beside breaks, then the others.
 */
void picture_block_choose(const struct picture_axis *axis, const struct picture_span *spans,
                          bool *chosen);

#endif /* CLI_PICTURE_BLOCK_H */
