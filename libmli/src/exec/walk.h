/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A walk is a way to move a copy box: the kernel that moves it, the loops that the kernel takes,
 * and the loops around the kernel.
 */
#pragma once

#include "libmli/src/exec/leaf.h"
#include "libmli/src/exec/tuning.h"
#include "libmli/src/plan.h"

enum walk_kind {
    WALK_ROWS,         /* kernel for rows of bytes */
    WALK_GATHER,       /* kernel for rows of elements that are apart */
    WALK_TRANSPOSE,    /* kernel for rows of elements; each column is contiguous in the source */
    WALK_TRANSPOSE_AT, /* a transpose in which two loops form the rows or the columns */
};

struct walk {
    enum walk_kind kind;
    size_t kernel; /* elements have 2^kernel bytes; unused by WALK_ROWS */

    /* Zeros before and after each row, or around the inner columns of a transpose. */
    struct leaf_border border;

    /* WALK_ROWS and WALK_GATHER: one call of the kernel moves `block` iterations of nest.inner, or
       `block` columns of a gather. The other kinds use only nest.dst and nest.src. */
    struct leaf_nest nest;
    size_t block;

    /* Bytes of zeros above the first and below the last of nest.inner's rows, without a gap. 0 if
       the walk does not write them. */
    size_t above, below;

    /* The loops over rows and over columns of a transpose, outer loop first. An outer loop that is
       not needed has a count of 1. The columns of a gather are in col[1]. */
    struct leaf_loop row[2], col[2];

    struct leaf_loop around[MLI_MAX_RANK]; /* outermost first; unused loops have a count of 1 */
};

/**
 * Chooses the walk of a box. `border` describes zeros before and after each border->run contiguous
 * bytes of the destination. Returns whether the walk writes these zeros; if not, the caller must.
 */
bool walk_init(struct walk *walk, const struct mli_copy_box *box, const struct leaf_border *border);

/** Returns the smaller number. */
static inline size_t at_most(size_t count, size_t most)
{
    return count < most ? count : most;
}

/** Returns the size of a row of walk->nest in the destination, in bytes. */
static inline size_t walk_row(const struct walk *walk)
{
    if (walk->kind == WALK_GATHER)
        return walk->col[1].count << walk->kernel;
    return walk->border.before + walk->border.run + walk->border.after;
}

/**
 * Adds zeros above and below nest.inner's rows to the walk, so that walk_move() writes them.
 * Returns false if it cannot.
 */
bool walk_take_zeros(struct walk *walk, size_t above, size_t below);

/** Moves rows with the walk's kernel, which is not a transpose. */
void walk_move_rows(const struct leaf_table *leaf, const struct walk *walk,
                    const struct leaf_nest *nest);

/** Moves one iteration of the loops around the kernel. */
void walk_move(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
               const uint8_t *src);

/*
 * Panels: parts of a transpose in which two loops together form the rows or the columns. Tables
 * hold the address of each row and column.
 */

/* Position in a walk over two loops. */
struct panel_progress {
    size_t outer, inner;
};

/*
 * The columns of a walk. Each iteration of the outer loop has zeros, then columns of the source,
 * then zeros again.
 */
struct panel_columns {
    const struct leaf_loop *loop;
    size_t before, width; /* in one iteration of the outer loop: number of columns of zeros before
                             the source's columns, and number of all columns */
    const uint8_t *src, *base; /* src: the first row; base: the tables hold offsets from here */
};

/* Returns the columns of a walk whose first row is at `src`. */
struct panel_columns panel_columns(const struct walk *walk, const uint8_t *src);

/* Returns the number of columns in all iterations of the outer loop. */
size_t panel_width(const struct walk *walk);

/* Sets at[i] to the offset of the i-th of the next `count` rows. */
void panel_locate_rows(size_t *at, const struct leaf_loop *row, struct panel_progress *p,
                       size_t count);

/* Sets at[] to the places of the next `count` columns, relative to columns->base. */
void panel_locate_columns(size_t *at, const struct panel_columns *columns, struct panel_progress *p,
                          size_t count);

/*
 * Streaming (stage.c): stores to large destinations bypass the caches. A kernel writes its rows to
 * a stage buffer, which stays in the first-level or second-level cache, and the level's stream
 * copies whole cache lines from the stage to the destination. So memory need not be read for lines
 * that are overwritten, and the caches keep other data.
 */

/**
 * Moves as walk_move() does, but streams if that is possible for this walk. leaf->stream must not
 * be null. Call leaf->fence() after the last call.
 */
void stage_move(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                const uint8_t *src);

/** Returns the number of bytes from which on a move with this kind of walk streams. */
size_t stage_least(const struct walk *walk);

/** Returns whether stage_move() streams this walk; if not, it does what walk_move() does. */
bool stage_streams(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                   const uint8_t *src);

/**
 * Adds zeros above and below nest.inner's rows to the walk (walk->above, walk->below), so that
 * stage_move() writes them. Returns false if it cannot.
 */
bool stage_take_zeros(struct walk *walk, size_t above, size_t below);

/** Returns whether the tuning says that this walk should stream. `bytes`: size of the whole move.
 */
static inline bool stage_pays(const struct walk *walk, size_t bytes)
{
    return bytes >= tuning_now.stream_least && bytes >= stage_least(walk);
}
