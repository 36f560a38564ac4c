/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arguments pad, slice, step and perm of a move: what each element of the result is.
 *
 * Everything needs the GIL. A function that returns int returns 0, or -1 with a Python exception.
 */
#pragma once

#include "python/core/view.h"

/** One dimension of the source. Sample numbers are positions in the padded source. */
struct window_dim {
    int64_t pre, post;    /* zero samples before and after the source */
    int64_t offset, size; /* the window; size may be 0 */
    int64_t step;         /* every step-th sample of the window */
    bool dropped;         /* an integer in `slice` chose the only sample */
};

struct window {
    uint32_t result_rank;
    int64_t shape[NEST_RANK_MAX]; /* shape of the result */
    bool empty;                   /* the result has no elements */
    uint32_t rank;                /* rank of the source */
    struct window_dim dim[NEST_RANK_MAX];
    uint32_t order[NEST_RANK_MAX]; /* source dimension of each dimension of the result */
};

/** Reads the arguments. Each may be null or None: not given. */
int window_read(struct window *window, const struct view *src, PyObject *pad, PyObject *slice,
                PyObject *step, PyObject *perm);

/**
 * Lists an axis for each dimension of the result, without its destination step. Axes for dropped
 * dimensions follow if `slice` chose one of their padding zeros. Adds to *offset the bytes from
 * the first element of the source to the first sample. Returns the number of axes.
 */
uint32_t window_axes(const struct window *window, const struct view *src,
                     struct axis axis[NEST_RANK_MAX], int64_t *offset);
