/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The picture of a move as plain data: the elements of source and destination that have a cell, the
 * state of each cell, and the coordinates that are left out. picture_text.c and picture_svg.c draw
 * it; explain.h has the data flow.
 *
 *   side    the source or the destination
 *   level   the role of an axis in a picture: columns and rows of a plane, planes in a line, lines
 *           of planes. A tensor of rank r has the last r levels. A view selects the dimensions for
 *           rows and columns; the other dimensions keep their order.
 *   slot    a position along an axis: a coordinate, a gap of the strides, or a break in place of
 *           coordinates that are left out
 *   cell    one slot of each level
 *   window  the coordinates that the move selects by offset and size, before subsampling
 *   sample  the index of a coordinate that the move takes from the window. Source and destination
 *           of an element have the same samples, and therefore the same colour.
 *   scale   the samples of a source dimension that the picture shows
 *
 * Files: picture.c (the cells, their colours, --view), picture_block.c (places of the cells of a
 * side), picture_words.c (texts in a picture).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/job/explained.h"
#include "proto/json/fault.h"
#include "proto/json/jsonw.h"

enum { PICTURE_SLOTS_MAX = 80 };

enum picture_level { PICTURE_LINES, PICTURE_PLANES, PICTURE_ROWS, PICTURE_COLUMNS, PICTURE_LEVELS };

/*
 * X(name, character in UTF-8, character in ASCII, words of the legend). TAKEN (source) looks like
 * WRITTEN (destination), and PADDING like ZERO, so the legend explains only WRITTEN and ZERO. A new
 * state also needs a fill in picture_svg.c, a colour in picture_text.c, and a rule in
 * picture_state().
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
    X(EMPTY, "_", "_", "outside of the result: zero")                                              \
    X(GAP, "'", "'", "gap of the strides")                                                         \
    X(BREAK, "⋯", "~", "left out here")

#define PICTURE_ENUM(name, utf8, ascii, words) PICTURE_##name,
enum picture_state { PICTURE_STATE_TABLE(PICTURE_ENUM) PICTURE_STATES };
#undef PICTURE_ENUM

enum picture_window { PICTURE_OUT, PICTURE_STEPPED_OVER, PICTURE_SAMPLED };

struct picture_slot {
    enum { SLOT_COORDINATE, SLOT_GAP, SLOT_BREAK } kind;
    /* Coordinate, in the source including padding; for a break, the first omitted coordinate. */
    uint64_t at;
    uint64_t left_out;          /* number of coordinates that a break hides */
    bool real;                  /* the coordinate holds an element of the source, not padding */
    enum picture_window window; /* in dst, PICTURE_SAMPLED means written, PICTURE_OUT not written */
    uint64_t sample;            /* valid if PICTURE_SAMPLED */
};

struct picture_axis {
    int dim; /* dimension of the side's tensor; -1: no such dimension, the axis has one slot */
    int source_dim; /* the source dimension that the axis shows */
    uint64_t extent;
    size_t count;
    struct picture_slot slot[PICTURE_SLOTS_MAX];
};

struct picture_side {
    bool is_dst;
    enum picture_level level_of[MLI_MAX_RANK]; /* level of each dimension of the tensor */
    bool update; /* destination: unwritten elements keep their old values */
    struct picture_axis axis[PICTURE_LEVELS];
};

/* The samples of a source dimension that the picture shows: each has a colour of its own. */
struct picture_scale {
    size_t count;
    uint64_t sample[PICTURE_SLOTS_MAX]; /* ascending */
};

struct picture {
    const struct explained *explained;
    struct picture_side src, dst;
    struct picture_scale scale[MLI_MAX_RANK]; /* scale[d]: samples of source dimension d */
    /* The source dimensions that colours and letters distinguish, the most important one first.
       Dimensions with one sample are not among them. */
    uint32_t followed[MLI_MAX_RANK];
    uint32_t followed_count;
};

/* Limits on the slots of an axis. */
struct picture_room {
    size_t level[PICTURE_LEVELS]; /* maximum number of slots of a level's axis; 3 or more */
    /* To show the edges of the tensor, of the padding and of the window, an axis may have more
       slots than its level allows: up to this number. */
    size_t edges;
};

/** Chooses which cells of the tensors the picture shows; `room` limits their number. Borrows
 * `explained`. */
void picture_init(struct picture *picture, const struct explained *explained,
                  const struct picture_room *room);

/** Returns the extent of a destination dimension; for raw bytes, the end of the written region. */
static inline uint32_t picture_extent(const struct explained *explained, uint32_t dst_dim)
{
    return explained->dst.rank ? explained->dst.shape[dst_dim] : explained->move.dst_shape[dst_dim];
}

/** Returns the state of a cell. at[level] is its slot on the axis of each level. */
enum picture_state picture_state(const struct picture_side *side, const size_t *at);

/**
 * Computes the samples of a cell, by source dimension. The samples are valid in the states TAKEN,
 * WRITTEN, PADDING and ZERO.
 */
void picture_samples(const struct picture_side *side, const size_t *at, uint64_t *sample);

/** Returns the number of cells in a state. */
size_t picture_count(const struct picture_side *side, enum picture_state state);

/** Returns the position of a sample among the samples of its dimension, from 0 to `most`. The
 * position of a sample that the picture leaves out is interpolated. */
uint32_t picture_position(const struct picture *picture, uint32_t source_dim, uint64_t sample,
                          uint32_t most);

/** Returns the coordinate of a sample in the source, without padding. */
uint64_t picture_coordinate(const struct picture *picture, uint32_t source_dim, uint64_t sample);

/**
 * Finds which slots [*begin, *end) of an axis show the window (src) or the written region (dst).
 * Returns false if no slot does.
 */
bool picture_window(const struct picture_axis *axis, size_t *begin, size_t *end);

/**
 * Parses the value of --view for this move: "0,1" (rows, columns; negative dimensions count from
 * the last) or a layout with one letter per dimension, H for rows and W for columns. A second view
 * after a colon is for the destination. Without a second view, the destination shows the
 * dimensions that the source's rows and columns become, the outer one as rows. Returns 0, or -1
 * with the fault.
 */
int picture_views_parse(const char *text, const mli_explanation *move, struct picture_views *views,
                        struct fault *fault);

/*
 * The colour of an element, equal in source and destination. The first followed dimension sets the
 * hue, the second one the tint, the third one the shade, and the fourth one shifts the hue
 * slightly. Integers only, so that all machines compute the same colours.
 */

struct picture_colour {
    uint8_t red, green, blue;
};

/** Returns the colour of an element by its samples, by source dimension. */
struct picture_colour picture_colour(const struct picture *picture, const uint64_t *sample);

/**
 * Returns the colour of xterm's palette (16 to 231) that is nearest to the element's hue. Tint and
 * shade are ignored, so that the colour can be read on light and on dark terminals.
 */
unsigned picture_colour_palette(const struct picture *picture, const uint64_t *sample);

/** Returns whether text on this colour has to be light. */
bool picture_colour_is_dark(struct picture_colour colour);

/** Lays a picture out within this room. Returns whether the picture fits its page or terminal. */
typedef bool picture_fit_fn(void *state, const struct picture_room *room);

struct picture_fit_range {
    size_t most, least; /* rows and columns of a plane */
    size_t edges;       /* minimum of picture_room.edges */
};

/**
 * Calls `fits` with rooms of the range, the largest first, until one fits. Returns false if none
 * does; the last call had the smallest room.
 */
bool picture_fit(picture_fit_fn *fits, void *state, const struct picture_fit_range *range);

/* Texts in a picture, for SVG and for terminals. Functions with a parameter `out` return `out`. */
enum { PICTURE_WORDS_MAX = 192, PICTURE_TICK_MAX = 24 };
enum { PICTURE_LINE_MAX = PICTURE_WORDS_MAX + 48 };

/* A step of the move (STEP_TABLE). */
struct picture_step {
    const char *name;
    bool neutral;                  /* true: the step changes nothing, and `what` is empty */
    char what[PICTURE_WORDS_MAX];  /* parameters of the step: "d1 1 of 2" */
    char shape[PICTURE_WORDS_MAX]; /* shape after the step */
};

/** Fills steps[STEP_COUNT]. */
void picture_steps(const struct explained *explained, struct picture_step *steps);

/** Writes a shape: "(4, 6, 8)". */
const char *picture_shape(char out[PICTURE_WORDS_MAX], uint32_t rank, const uint64_t *shape);
/** Writes the shape of a side's tensor, or "raw bytes". */
const char *picture_side_shape(char out[PICTURE_WORDS_MAX], const struct explained_side *side);

/**
 * Writes the extent of an axis and its parts: "1+4+1" with padding, "6 at 4 of 12" in a
 * destination.
 */
const char *picture_axis_words(char out[PICTURE_WORDS_MAX], const struct picture *picture,
                               const struct picture_side *side, const struct picture_axis *axis);

/**
 * Writes the label of a plane: "[0, 2, :, :]", "padding" or "gap"; empty for tensors of rank 1 and
 * 2.
 */
const char *picture_plane_words(char out[PICTURE_WORDS_MAX], const struct picture *picture,
                                const struct picture_side *side, size_t line, size_t plane);

/**
 * Writes the coordinate of a slot, for a tick beside the axis; empty for padding, gaps and breaks.
 */
const char *picture_tick_words(char out[PICTURE_TICK_MAX], const struct picture *picture,
                               const struct picture_side *side, const struct picture_axis *axis,
                               size_t slot);

/** Returns whether each moved element has its own letter. There must be few, all of them shown. */
bool picture_has_letters(const struct picture *picture);

/**
 * Returns the letter of a moved element; sample[d] is its sample in source dimension d. If
 * picture_has_letters() is false, there are not enough letters for all: then the letter shows only
 * the sample in dimension followed[0].
 */
char picture_letter(const struct picture *picture, const uint64_t *sample);

/** Writes the words of a state in the legend; empty if the picture has no cell in this state. */
const char *picture_state_words(const struct picture *picture, enum picture_state state);

/** Returns whether each coordinate of an axis has quantisation parameters of its own. */
bool picture_is_quantised(const struct picture *picture, const struct picture_axis *axis);

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
 *     bottom  captions
 */

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
    int left; /* space before the planes, without the width of the tick labels of rows */
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
    bool folds; /* true: PICTURE_LINES has one slot, so planes wrap into several lines */
    size_t fold[PICTURE_SLOTS_MAX]; /* number of the line of planes in which each plane is drawn */
    int line[PICTURE_SLOTS_MAX];    /* y coordinate of the first cells of each line */
    size_t lines;
    int ticks; /* width of the tick labels of rows */
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

/** Returns the rectangle that the cells of a plane cover. */
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

/*
 * The picture of a move as an SVG drawing, `mlictl explain --svg`: both sides with their captions,
 * ticks and cells, the arrow between them with the steps of the move, and the legend.
 */

/** Writes the drawing. The bytes of the drawing depend on *explained only. */
void svg_picture(struct textw *w, const struct explained *explained);

/**
 * Writes the drawing to a file, atomically. Replaces an existing file only if it is empty or begins
 * like XML. Returns 0, or -1 with the fault.
 */
int svg_picture_save(const struct explained *explained, const char *path, struct fault *fault);

/* The files of drawings: --svg names the file of one job; several jobs get a file each. */
struct svg_target {
    const char *path; /* path of --svg, or null: no drawings */
    size_t jobs;      /* number of drawings */
    size_t files;     /* number of job files */
};

/** Returns whether drawings go to standard output (--svg -). */
bool svg_target_is_stdout(const struct svg_target *target);

/**
 * Returns the path of a drawing for job number `job` of job file number `file`, both from 0. One
 * job: the path of --svg. Several jobs: "-NAME", or ".NUMBER" if the job has no name, precedes the
 * path's ending. Several job files: the number of the job file precedes "-NAME" or ".NUMBER", so
 * that all paths differ. The caller frees the path. Null: out of memory.
 */
char *svg_target_path(const struct svg_target *target, size_t file, size_t job, const char *name);
