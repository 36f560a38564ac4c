/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A move of an array of any rank and element size, as moves that libmli accepts.
 *
 *   axis      one dimension of the result, with its zeros before and after the samples
 *   nest      the axes of a result, folded: in the order of memory, as few as possible
 *   segment   a part of an axis that one move of libmli writes
 *   move      one segment of each axis: source, configuration and destination for libmli
 *   repeat    an axis that repeats one sample, like the axes of a broadcast array
 *
 * libmli moves tensors of up to four dimensions, with elements of 1, 2 or 4 bytes, at most 255
 * zeros on each side, and at most 4 GiB between the first and the last byte. Nearly every nest fits
 * into one move. The other nests take a move for each combination of segments. Repeated axes are
 * written by copies within the result: each doubles the indices that are written.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_api.h"

enum {
    NEST_RANK_MAX = 8,                 /* of arrays */
    NEST_AXES_MAX = NEST_RANK_MAX + 1, /* an element may become an axis of smaller elements */
    NEST_ZEROS_MAX = UINT8_MAX,        /* limit of mli_mov_cfg_t.padding_pre and padding_post */
};

/** One dimension of a result. Index k is a zero for k < before and for k >= before + samples. */
struct axis {
    int64_t before, samples, after; /* their sum, the extent in the result, is at least 1 */
    int64_t src_step, dst_step;     /* bytes from one sample to the next, not negative */
};

static inline int64_t axis_extent(const struct axis *axis)
{
    return axis->before + axis->samples + axis->after;
}

static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/** An axis without zeros that has one sample at all indices. */
struct repeat {
    int64_t count, dst_step;
};

struct nest {
    const uint8_t *src; /* first sample; not read if an axis has no samples */
    uint8_t *dst;       /* first byte of the result */
    uint32_t unit;      /* size of the elements that libmli moves: 1, 2 or 4 bytes */
    uint32_t rank;
    struct axis axis[NEST_AXES_MAX];
    int64_t longest[NEST_AXES_MAX]; /* maximum number of elements of a segment */
    bool looped[NEST_AXES_MAX]; /* true: segments have one element; moves do not have this axis */
    uint32_t repeats;
    /* Repeated axes, the smallest step first. `axis` does not contain them. */
    struct repeat repeat[NEST_RANK_MAX];
};

/** A move of libmli. */
struct move {
    mli_tensor src, dst;
    mli_mov_cfg_t cfg;
};

/** The moves of a nest, one after the other. Plain data. */
struct move_iterator {
    const struct nest *nest;
    int64_t at[NEST_AXES_MAX]; /* first index of the segment of each axis */
    int64_t zeros_at;          /* start of the zeros, for segments of zeros only: see moves.c */
    bool ended;
    uint32_t repeat; /* index of the repeated axis that is being written now */
    int64_t written; /* number of written indices of this axis; 0: the moves before the repeated
                        axes are not complete */
    struct nest copy;
};

/**
 * Folds the axes of a result with elements of `size` bytes. `axis` has `rank` entries in any order,
 * none with an extent of 0; at most NEST_RANK_MAX, or NEST_AXES_MAX if elements are not split.
 */
void nest_fold(struct nest *nest, const uint8_t *src, uint8_t *dst, size_t size,
               const struct axis *axis, uint32_t rank);

/** Returns whether a single move of libmli executes the whole nest. */
bool nest_is_single(const struct nest *nest);

/**
 * Returns whether no two moves of the nest interfere: no byte is written twice, and none is both
 * read and written. May return false for interleaved arrays that do not interfere. For single
 * moves libmli has an exact check.
 */
bool nest_is_disjoint(const struct nest *nest);

/**
 * Lists the axes of a copy of the result onto itself: first the axes with more than one index,
 * then the first `repeats` of the repeated axes. Returns the number of listed axes.
 */
uint32_t nest_result_axes(const struct nest *nest, uint32_t repeats,
                          struct axis axis[NEST_AXES_MAX]);

/** Begins with the first move. The nest must stay valid. */
void move_iterator_init(struct move_iterator *iterator, const struct nest *nest);

/** Builds the next move. Returns false after the last one. */
bool move_iterator_next(struct move_iterator *iterator, struct move *move);

/** Runs all moves of a nest on the calling thread. */
mli_status nest_run(const struct nest *nest);
