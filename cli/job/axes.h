/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A move of a tensor with more dimensions, or larger elements, than libmli has, and its conversion
 * to one of at most 4 dimensions with elements of 1, 2 or 4 bytes. The dimensions of such a move
 * are called axes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_mov_api.h"
#include "proto/wire/tensor_desc.h"

enum {
    MOVE_AXES_MAX = TENSOR_RANK_MAX + 1, /* one for the parts of an element */
    MOVE_BORDER_MAX = 255                /* zeros on one side of a dimension: the limit of cfg */
};

/* A dimension of the source and the dimension of the result that it becomes. Unit: elements. */
struct move_axis {
    uint64_t extent, src_stride;  /* extent and stride in the source */
    uint64_t pre, post;           /* zeros before and after the source */
    uint64_t offset, count, step; /* window of `count` elements; offset 0: start of the border */
    uint64_t dst_extent, dst_stride, at; /* in the result; at: the first written coordinate */
    uint32_t dimensions; /* bits: the source's dimensions in this axis, for messages */
};

struct move {
    size_t source;               /* index of the source in the movement */
    uint64_t src_base, dst_base; /* offsets of element 0 of source and result, in elements */
    uint32_t axis_count;
    struct move_axis axes[MOVE_AXES_MAX]; /* in the order of the source */
    uint32_t order[MOVE_AXES_MAX];        /* dimension i of the result is axis order[i] */
};

/** Returns whether the move copies the whole axis: no border, no window, no gap in the result. */
bool move_axis_is_whole(const struct move_axis *axis);

/** Divides each element into parts, which become the last axis. */
void move_split(struct move *move, uint32_t parts);

/** Sorts the axes by their strides in the source, the largest first. */
void move_sort(struct move *move);

void move_remove_axis(struct move *move, uint32_t axis);

/** Returns whether axes d and d + 1 are one dimension in the source and in the result. */
bool move_is_mergeable(const struct move *move, uint32_t d);
void move_merge(struct move *move, uint32_t d);

/**
 * Leaves out axes of which one element is moved, and merges axes that are one dimension in the
 * source and in the result, until the move has MLI_MAX_RANK axes or nothing is left to merge.
 */
void move_reduce(struct move *move);

/** Returns whether all numbers of a move have the range that libmli allows. */
bool move_fits(const struct move *move);

/** Sets all members of cfg except dst_offset and dst_mem_stride. */
void move_to_cfg(const struct move *move, mli_mov_cfg_t *cfg);
