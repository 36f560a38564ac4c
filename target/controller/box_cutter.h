/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cuts a copy box into few pieces that descriptors of a DMA controller can express. cutter_least()
 * bounds their number from below. mli_legalise_next() of libmli has another aim: rows in order, for
 * any engine at run time. The cutter may take loops in any order, and cuts several of them at once:
 *
 *   1. Loops with too many iterations are split: into two loops (a descriptor may have room for
 *      both) and, if the number of iterations is not a product of two legal counts, a remainder.
 *      The remainders make up to 2^loops parts of the box.
 *   2. The runs of each part are split likewise, or without loops if descriptors without loops
 *      allow longer runs. The cutter takes the way with the fewest pieces.
 *   3. A piece takes the loops with the largest counts. One piece is made for each iteration of the
 *      other loops.
 *
 * Pieces are numbered and made one at a time; nothing is allocated.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mli_engine.h"
#include "mli_plan.h"

/* The limits of a descriptor, and arithmetic with them that checks for overflow. */

/* Limits of a descriptor. UINT64_MAX: no limit. */
struct cut_limits {
    uint32_t loops;          /* at most MLI_MAX_RANK */
    uint64_t count_max;      /* iterations of a loop, at least 2 */
    uint64_t run_max;        /* bytes of a run in a descriptor with loops */
    uint64_t linear_run_max; /* bytes of a run in a descriptor without loops; at least run_max */
    uint64_t step_max;       /* bytes of a step */
    uint64_t gap_max;        /* bytes from the end of a run to the next run, or back */
    uint64_t bytes_max;      /* bytes that a descriptor moves */
    uint32_t granularity;    /* runs and steps are multiples of this power of two */
    uint32_t alignment;      /* addresses are multiples of this power of two */
};

enum { CUT_AXES_MAX = 2 * MLI_MAX_RANK + 1 };

/* One loop of a part. If runs are split, the loop over the pieces of a run is one of them. */
struct cut_axis {
    uint64_t count, src_step, dst_step;
    uint64_t row_step; /* number of rows of the plan in one step */
    uint64_t take;     /* number of iterations in one piece */
    uint64_t at;       /* first iteration of the next piece */
    bool outer; /* true: this is the outer one of two loops that one loop was split into; the next
                   axis is the inner one */
};

/* A part of the box whose runs have one length (step 2 above). */
struct cut_block {
    uint64_t src_offset, dst_offset; /* offsets from the addresses of the box */
    uint64_t row, run;
    uint32_t axes;
    struct cut_axis axis[CUT_AXES_MAX];
};

/* The state of cutting one box. Plain data; may be copied. */
struct box_cutter {
    struct mli_descriptor whole; /* the box; its source address is valid if `copies` */
    bool copies;
    struct cut_limits limits;
    uint64_t inner[MLI_MAX_RANK]; /* inner[i]: iterations of the inner loop if loop i is split into
                                     two loops and a remainder, which is a part of its own */
    /* Progress, private: */
    uint32_t part; /* bit i is set: the present part is the remainder along loop i */
    bool rest;     /* true: the block has the remainders of the runs */
    bool making;   /* true: `block` has more pieces */
    struct cut_block block;
};

/**
 * Begins to cut the box of *whole. whole->row is the number of its first row, or 0; all pieces get
 * whole->index. The run of the box is a multiple of the granularity; its addresses and steps are
 * multiples of the alignment. `copies`: the box has a source. A limit of runs that is less than the
 * run is at least the granularity and the alignment.
 */
void cutter_init(struct box_cutter *cutter, const struct mli_descriptor *whole, bool copies,
                 const struct cut_limits *limits);

/** Sets *piece to the next piece; false at the end. */
bool cutter_next(struct box_cutter *cutter, struct mli_descriptor *piece);

/** Returns the number of pieces of the whole box. */
uint64_t cutter_count(const struct box_cutter *cutter);

/**
 * Returns a lower bound of the number of pieces, from the limits alone. It holds for all sets of
 * pieces that move exactly this box, if each piece moves a range of the run and a range of the
 * iterations of each loop. docs/profiles.md ("Why `least` is a lower bound") has the proof.
 */
uint64_t cutter_least(const struct box_cutter *cutter);
