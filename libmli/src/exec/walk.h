/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a copy box is walked: which kernel moves it, which of its loops the kernel walks, and which
 * go around.
 */
#ifndef MLI_EXEC_WALK_H
#define MLI_EXEC_WALK_H

#include "libmli/src/exec/leaf.h"
#include "libmli/src/plan.h"

enum walk_kind {
    WALK_ROWS,         /* rows of bytes */
    WALK_GATHER,       /* rows of elements that lie apart */
    WALK_TRANSPOSE,    /* rows of elements of which each column is contiguous in the source */
    WALK_TRANSPOSE_AT, /* the same where rows or columns are those of two loops */
};

struct walk {
    enum walk_kind kind;
    size_t kernel; /* of an element of 2^kernel bytes; but for rows */

    /* Zeros around what is copied: of each row, or around the inner columns of a transpose. */
    struct leaf_border border;

    /* Rows and gathers. The kernel is called for `block` iterations of nest.inner at a time, or for
       as many columns of a gather. Of others, only dst and src count. */
    struct leaf_nest nest;
    size_t block;

    /* Zeros above the first and below the last of nest.inner's rows, which these follow without a
       gap. 0 where they are not taken into the walk. */
    size_t above, below;

    /* Transposes, and of a gather the inner column: two loops each, the outer one around once where
       there is one only. */
    struct leaf_loop row[2], col[2];

    struct leaf_loop around[MLI_MAX_RANK]; /* outermost first, unused ones once around */
};

/**
 * How to walk the box, with such zeros beside what it writes contiguously (border->run bytes).
 * False where they are not taken: then they remain to be written.
 */
bool walk_init(struct walk *walk, const struct mli_copy_box *box, const struct leaf_border *border);

/** What is left of `count`, but no more than fits. */
static inline size_t at_most(size_t count, size_t most)
{
    return count < most ? count : most;
}

/** Bytes of a row of walk->nest in the destination. */
static inline size_t walk_row(const struct walk *walk)
{
    if (walk->kind == WALK_GATHER)
        return walk->col[1].count << walk->kernel;
    return walk->border.before + walk->border.run + walk->border.after;
}

/**
 * Takes such zeros around nest.inner's rows into the walk, so that walk_move() writes them; false
 * where it would not.
 */
bool walk_take_zeros(struct walk *walk, size_t above, size_t below);

/** Moves rows with the walk's kernel, which is not one of transposes. */
void walk_move_rows(const struct leaf_table *leaf, const struct walk *walk,
                    const struct leaf_nest *nest);

/** Moves what the kernel moves in one iteration of the loops around it. */
void walk_move(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
               const uint8_t *src);

#endif /* MLI_EXEC_WALK_H */
