/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves plans on the calling thread. walk.c chooses the kernel and the loops; stage.c streams large
 * destinations; leaf.h has the kernels; level.c chooses their instruction set; tuning.h has the
 * measured constants. A build with MLI_SMALL_KERNELS has one kernel in exec.c in place of them.
 */
#pragma once

#include <stdbool.h>

#include "libmli/src/plan.h"

/**
 * Moves a plan. `whole` is the number of bytes of the transfer that the plan belongs to: stores of
 * large transfers bypass the caches.
 */
void exec_run(const struct mli_plan *plan, size_t whole);

/** Moves a box, or fills it with zeros if it has no source. `whole`: as for exec_run(). */
void exec_box(const struct mli_copy_box *box, size_t whole);

enum exec_kernel { EXEC_ROWS, EXEC_GATHER, EXEC_TRANSPOSE, EXEC_ZEROS };

/* Describes how exec_run() moves a descriptor: the kernel and the kind of stores. */
struct exec_way {
    enum exec_kernel kernel;
    size_t bytes;      /* bytes of a row; for gathers and transposes bytes of an element */
    const char *level; /* level of the kernels ("c", "avx2", ...) */
    bool in_panels;    /* true: a transpose in which two loops form the rows or the columns */
    bool bordered;     /* true: zeros beside the rows are written with the rows */
    bool streamed;     /* true: stores bypass the caches */
    bool with_copy;    /* true: zeros are written with the copy, not by a kernel of their own */
};

/** Chooses the way to move a descriptor. Returns false if the descriptor writes nothing. */
bool exec_way(const struct mli_plan *plan, size_t whole, uint32_t descriptor, struct exec_way *way);

/* Zeros beside the rows of a box: they are written with the rows, not after all rows. */

/* The rows of the destination that one copy box writes. */
struct border_rows {
    const uint8_t *dst;
    size_t run, loops;
    const struct mli_copy_loop *loop;
};

/** Describes the rows of the destination that the box writes. */
static inline struct border_rows border_rows(const struct mli_copy_box *box)
{
    return (struct border_rows){box->dst, box->run, box->loops, box->loop};
}

/**
 * Describes the rows of the destination that the box writes. If the rows of the innermost loop are
 * contiguous, they are one long row.
 */
static inline struct border_rows border_long_rows(const struct mli_copy_box *box)
{
    struct border_rows rows = border_rows(box);

    if (rows.loops > 0 && rows.loop[rows.loops - 1].dst_step == rows.run)
        rows.run *= rows.loop[--rows.loops].count;
    return rows;
}

/**
 * Return whether every row of the slab ends where a row begins (before), or begins where a row ends
 * (after).
 */
bool border_is_before(const struct mli_fill_slab *slab, const struct border_rows *rows);
bool border_is_after(const struct mli_fill_slab *slab, const struct border_rows *rows);
