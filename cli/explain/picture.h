/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a picture of a move shows, as plain data: which elements of the source and of the
 * destination have a cell, where it stands, in which state it is, and what is left out between
 * them. How a cell looks is the business of those who draw it:
 *
 *     struct explained -> picture.c       struct picture: cells and their states
 *                      -> picture_fit.c   as many as there is room for
 *                      -> picture_block.c where they stand
 *                      -> svg_picture.c   a file
 *                         picture_text.c  characters
 *
 *   side    the source or the destination
 *   level   where an axis goes in a picture: a plane's columns and rows, planes in a line, lines of
 *           planes. A tensor of rank r has the last r levels. picture_view.h chooses the dimensions
 *           for rows and columns; the other dimensions keep their order.
 *   slot    one place along an axis: a coordinate, memory in a gap of the strides, or a break where
 *           coordinates are left out
 *   cell    a slot of each level
 *   sample  the n-th coordinate of the window that is taken along an axis: the same number on both
 *           sides, which is how a cell finds its colour
 */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/explain/explained.h"

enum { PICTURE_SLOTS_MAX = 80 };

enum picture_level { PICTURE_LINES, PICTURE_PLANES, PICTURE_ROWS, PICTURE_COLUMNS, PICTURE_LEVELS };

/*
 * X(name, characters in a terminal: UTF-8 and ASCII, words of the legend). What is moved looks the
 * same on both sides, and has its words once.
 */
#define PICTURE_STATE_TABLE(X)                                                                     \
    X(TAKEN, "a", "a", "")                                                                         \
    X(WRITTEN, "a", "a", "moved")                                                                  \
    X(PADDING, "0", "0", "")                                                                       \
    X(ZERO, "0", "0", "zeros")                                                                     \
    X(SKIPPED, "◦", "-", "stepped over")                                                           \
    X(OUTSIDE, "·", ".", "outside the window")                                                     \
    X(PADDING_SKIPPED, "░", ":", "padding, not moved")                                             \
    X(THERE, "▪", "#", "already there, stays")                                                     \
    X(EMPTY, "_", "_", "before the offset, not written")                                           \
    X(GAP, "'", "'", "gap of the strides")                                                         \
    X(BREAK, "⋯", "~", "left out here")

#define PICTURE_ENUM(name, utf8, ascii, words) PICTURE_##name,
enum picture_state { PICTURE_STATE_TABLE(PICTURE_ENUM) PICTURE_STATES };
#undef PICTURE_ENUM

enum picture_window { PICTURE_OUT, PICTURE_STEPPED_OVER, PICTURE_SAMPLED };

struct picture_slot {
    enum { SLOT_COORDINATE, SLOT_GAP, SLOT_BREAK } kind;
    uint64_t at;       /* coordinate, of the padded source; of a break: the first left out */
    uint64_t left_out; /* of a break */
    bool real;         /* an element of the source, not padding; on both sides */
    enum picture_window window; /* dst: written or not */
    uint64_t sample;            /* where it is PICTURE_SAMPLED */
};

struct picture_axis {
    int dim;        /* of its tensor; -1: the tensor has no such axis, there is one slot */
    int source_dim; /* the source dimension that it is, or comes from */
    uint64_t extent;
    size_t count;
    struct picture_slot slot[PICTURE_SLOTS_MAX];
};

struct picture_side {
    bool is_dst;
    enum picture_level level_of[MLI_MAX_RANK]; /* by dimension of the side's tensor */
    bool update;                               /* dst: what is not written was there before */
    struct picture_axis axis[PICTURE_LEVELS];
};

/* The samples of a source dimension that are to be told apart. */
struct picture_scale {
    size_t count;
    uint64_t sample[PICTURE_SLOTS_MAX]; /* rising */
};

struct picture {
    const struct explained *explained;
    struct picture_side src, dst;
    struct picture_scale scale[MLI_MAX_RANK]; /* by source dimension */
    /* Source dimensions of more than one sample, those first that the eye is to follow first. */
    uint32_t followed[MLI_MAX_RANK];
    uint32_t followed_count;
};

/* What there is room for, in slots. */
struct picture_room {
    size_t level[PICTURE_LEVELS]; /* at most; 3 to PICK_MAX */
    /* An axis takes more, up to so many, where its edges need them: those of the tensor, of its
       padding, and of the window. */
    size_t edges;
};

/** Lays the picture out; `explained` is borrowed. */
void picture_init(struct picture *picture, const struct explained *explained,
                  const struct picture_room *room);

/** How far the destination's tensor goes: at least what is written, if it has no shape of its own.
 */
static inline uint32_t picture_extent(const struct explained *explained, uint32_t dst_dim)
{
    return explained->dst.rank ? explained->dst.shape[dst_dim] : explained->move.dst_shape[dst_dim];
}

/** The state of the cell at slot at[level] of each level. */
enum picture_state picture_state(const struct picture_side *side, const size_t *at);

/** Its samples by source dimension; they mean something where it is TAKEN, WRITTEN or zero. */
void picture_samples(const struct picture_side *side, const size_t *at, uint64_t *sample);

/** Cells in a state. */
size_t picture_count(const struct picture_side *side, enum picture_state state);

/** Where a sample stands on its scale, from 0 to `most`; what has no slot lies between those. */
uint32_t picture_position(const struct picture *picture, uint32_t source_dim, uint64_t sample,
                          uint32_t most);

/** The coordinate that a sample has in the source, without its padding. */
uint64_t picture_coordinate(const struct picture *picture, uint32_t source_dim, uint64_t sample);

/** The slots [*begin, *end) of the window, or of what is written; false where there are none. */
bool picture_window(const struct picture_axis *axis, size_t *begin, size_t *end);

#endif /* CLI_PICTURE_H */
