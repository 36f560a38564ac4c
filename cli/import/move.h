/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A movement as moves: each takes a window of a source in memory, with a border of zeros, and
 * writes it with strides. Dimensions of a move are axes; their number may exceed that of libmli,
 * until move_fold() (fold.c).
 */
#ifndef CLI_IMPORT_MOVE_H
#define CLI_IMPORT_MOVE_H

#include "cli/import/movement.h"
#include "mli_types.h"

enum {
    MOVE_AXES_MAX = MOVEMENT_RANK_MAX + 1, /* and the parts of an element */
    MOVE_BORDER_MAX = 255,                 /* zeros on a side of a dimension, as in cfg */
    MOVES_MAX = 4096                       /* moves of a movement */
};

/* A dimension of the source and the dimension of the result that it becomes. In elements. */
struct move_axis {
    uint64_t extent, src_stride;  /* of the source */
    uint64_t pre, post;           /* border of zeros */
    uint64_t offset, count, step; /* window: `count` elements from `offset` of the border on */
    uint64_t dst_extent, dst_stride, at; /* of the result; `at`: the first coordinate written */
};

struct move {
    size_t source;               /* of the movement */
    uint64_t src_base, dst_base; /* first elements of source and result */
    uint32_t axis_count;
    struct move_axis axes[MOVE_AXES_MAX]; /* by dimension of the source */
    uint32_t order[MOVE_AXES_MAX];        /* dimension i of the result is axis order[i] */
};

struct moves {
    struct move *items;
    size_t count, capacity;
    uint32_t unit; /* bytes of an element */
    bool filled;   /* the result is filled with an element other than 0 before the moves */
    bool too_many; /* more than MOVES_MAX */
    bool too_wide; /* an extent or stride exceeds the fields of a move */
};

/** Fills *moves with the moves of a movement, of any rank. Returns 0, or -1 (no memory). */
int moves_of(const struct movement *movement, struct moves *moves);
void moves_finish(struct moves *moves);
/** Adds a copy of a move. Returns 0, or -1: no memory, or too_many. */
int moves_add(struct moves *moves, const struct move *move);

/**
 * Replaces the moves by moves of 1 to 4 axes and elements of 1, 2 or 4 bytes. Moves of such a form
 * stay unchanged. Returns 0, or -1: no memory, or too_many or too_wide.
 */
int moves_fold(struct moves *moves);

/** Returns whether nothing is added, left out or placed apart along the axis. */
bool move_axis_is_whole(const struct move_axis *axis);

#endif /* CLI_IMPORT_MOVE_H */
