/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the cells of a side stand, in pixels or in characters, from the upper left corner of what
 * is drawn of it:
 *
 *     top     what stands above, as captions
 *         [0, 0, :, :]   [0, 1, :, :]     a label above each plane
 *      0  # # # #        # # # #
 *      1  # # # #        # # # #          ticks beside the first plane of a line
 *      2  # # # #        # # # #
 *         0 1 2 3                         ticks below the first plane of the last line
 *     bottom  those ticks, and what stands below
 */
#ifndef CLI_PICTURE_BLOCK_H
#define CLI_PICTURE_BLOCK_H

#include "cli/explain/picture.h"

/* What everything takes. */
struct picture_metrics {
    int cell_width, cell_height;
    int break_width, break_height;       /* of coordinates left out of a plane */
    int planes_left_out, lines_left_out; /* at least, across and down */
    int edge;                            /* more of a plane's width than its cells */
    int across, down;                    /* between planes, between lines of them */
    int label;                           /* height */
    int left;                            /* before the planes, besides the ticks of the rows */
    int top, bottom;
    int (*text_width)(const char *text); /* of a label or tick */
};

struct picture_block {
    const struct picture *picture;
    const struct picture_side *side;
    struct picture_metrics metrics;
    int column[PICTURE_SLOTS_MAX + 1], row[PICTURE_SLOTS_MAX + 1]; /* from a plane's corner */
    int plane[PICTURE_SLOTS_MAX]; /* x of each slot of PICTURE_PLANES, and what it takes */
    int plane_width[PICTURE_SLOTS_MAX];
    bool folds;                     /* there is one of PICTURE_LINES only: */
    size_t fold[PICTURE_SLOTS_MAX]; /* the line that a plane is on */
    int line[PICTURE_SLOTS_MAX];    /* y of the planes' cells in each line */
    size_t lines;
    int ticks; /* what those of the rows take */
    int left;  /* where planes begin */
    int width, height;
};

struct picture_area {
    int x, y, width, height;
};

/** Lays a side out; planes that would go beyond `width` begin a new line. */
void picture_block_init(struct picture_block *block, const struct picture *picture,
                        const struct picture_side *side, const struct picture_metrics *metrics,
                        int width);

/** Whether planes go on on a further line though some of them are left out. */
bool picture_block_sprawls(const struct picture_block *block);

/** What the cells of a plane take. */
struct picture_area picture_block_plane(const struct picture_block *block, size_t line,
                                        size_t plane);

/** Whether the ticks of rows, and of columns, stand at this plane. */
bool picture_block_row_ticks(const struct picture_block *block, size_t plane);
bool picture_block_column_ticks(const struct picture_block *block, size_t line, size_t plane);

/* What a text beside an axis takes; from == to: there is none. */
struct picture_span {
    int from, to;
};

/**
 * Chooses texts that do not run into one another, those first that stand at an end of the axis or
 * of the window, then those beside breaks.
 */
void picture_block_choose(const struct picture_axis *axis, const struct picture_span *spans,
                          bool *chosen);

#endif /* CLI_PICTURE_BLOCK_H */
