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
#include "proto/json/fault.h"

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

/*
 * The dimensions of a tensor that are the rows and the columns of its picture: by default the last
 * two, or the two before a small last dimension, which is taken for the channels of an image (HWC).
 */

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

/*
 * The colour of a sample: the same in the source and in the destination, so that the eye can follow
 * it. The dimension that is to be followed first gives the hue, the next the tint, then the shade,
 * then a touch of the neighbouring hue. Whole numbers only: it is the same everywhere.
 */

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

/* How many cells a picture has so that it fits where it is drawn. */

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

/* The words in a picture of a move, drawn or typed. Each function returns `out`. */

enum { PICTURE_WORDS_MAX = 192, PICTURE_FILE_MAX = 48, PICTURE_TICK_MAX = 24 };
enum { PICTURE_LINE_MAX = PICTURE_WORDS_MAX + 48 };

/* A step of the move (steps.h). */
struct picture_step {
    const char *name;
    bool neutral; /* changes nothing; `what` is empty then */
    char what[PICTURE_WORDS_MAX];
    char shape[PICTURE_WORDS_MAX]; /* after it */
};

/** Fills steps[STEP_COUNT]. */
void picture_steps(const struct explained *explained, struct picture_step *steps);

/** "(4, 6, 8)" */
const char *picture_shape(char out[PICTURE_WORDS_MAX], uint32_t rank, const uint64_t *shape);
/** The same of a tensor's own shape. */
const char *picture_side_shape(char out[PICTURE_WORDS_MAX], const struct explained_side *side);

/** How long an axis is and why: "1+4+1" with padding, "6 at 4 of 12" in a destination. */
const char *picture_axis_words(char out[PICTURE_WORDS_MAX], const struct picture *picture,
                               const struct picture_side *side, const struct picture_axis *axis);

/** Which plane it is: "[0, 2, :, :]", "padding", "gap"; empty where there is one plane only. */
const char *picture_plane_words(char out[PICTURE_WORDS_MAX], const struct picture *picture,
                                const struct picture_side *side, size_t line, size_t plane);

/** The coordinate of a slot as it is told beside an axis; empty where it has none. */
const char *picture_tick_words(char out[PICTURE_TICK_MAX], const struct picture *picture,
                               const struct picture_side *side, const struct picture_axis *axis,
                               size_t slot);

/** The end of a file's name. */
const char *picture_file(char out[PICTURE_FILE_MAX], const char *file);

/** Whether an axis has quantisation parameters of its own for each coordinate. */
bool picture_is_quantised(const struct picture *picture, const struct picture_axis *axis);

#endif /* CLI_PICTURE_H */
