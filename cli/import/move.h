/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A movement as moves: each move takes a window of a source in memory, with a border of zeros, and
 * writes it with strides. The dimensions of a move are called axes; before moves_fold() (fold.c) a
 * move may have more axes than libmli allows.
 */
#ifndef CLI_IMPORT_MOVE_H
#define CLI_IMPORT_MOVE_H

#include "cli/import/movement.h"
#include "mli_types.h"

enum {
    MOVE_AXES_MAX = MOVEMENT_RANK_MAX + 1, /* one more axis for the parts of an element */
    MOVE_BORDER_MAX = 255,                 /* zeros on one side of a dimension: the limit of cfg */
    MOVES_MAX = 4096                       /* maximum number of moves of a movement */
};

/* A dimension of the source and the dimension of the result that it becomes. Unit: elements. */
struct move_axis {
    uint64_t extent, src_stride;  /* extent and stride in the source */
    uint64_t pre, post;           /* zeros before and after the source */
    uint64_t offset, count, step; /* window of `count` elements; offset 0: start of the border */
    uint64_t dst_extent, dst_stride, at; /* in the result; at: the first written coordinate */
};

struct move {
    size_t source;               /* index of the source in the movement */
    uint64_t src_base, dst_base; /* offsets of element 0 of source and result, in elements */
    uint32_t axis_count;
    struct move_axis axes[MOVE_AXES_MAX]; /* in the order of the source's dimensions */
    uint32_t order[MOVE_AXES_MAX];        /* dimension i of the result is axis order[i] */
};

struct moves {
    struct move *items;
    size_t count, capacity;
    uint32_t unit; /* bytes of an element */
    bool filled;   /* the result is filled with an element other than 0 before the moves */
    bool too_many; /* the movement needs more than MOVES_MAX moves */
    bool too_wide; /* an extent or stride exceeds the fields of a move */
};

/** Fills *moves with the moves of a movement, of any rank. Returns 0, or -1 (no memory). */
int moves_of(const struct movement *movement, struct moves *moves);
void moves_finish(struct moves *moves);
/** Adds a copy of a move. Returns 0, or -1 if there is no memory or moves->too_many is set. */
int moves_add(struct moves *moves, const struct move *move);

/**
 * Converts the moves to moves of 1 to 4 axes and elements of 1, 2 or 4 bytes. Returns 0, or -1 if
 * there is no memory, or if moves->too_many or moves->too_wide is set.
 */
int moves_fold(struct moves *moves);

/** Returns whether the move copies the whole axis: no border, no window, no gap in the result. */
bool move_axis_is_whole(const struct move_axis *axis);

#endif /* CLI_IMPORT_MOVE_H */
