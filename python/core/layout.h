/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of a move: the window of the source, the place of the result in the destination, and
 * the nest of axes that moves the window to this place.
 *
 * Everything needs the GIL. A function that returns int returns 0, or -1 with a Python exception.
 */
#ifndef CORE_LAYOUT_H
#define CORE_LAYOUT_H

#include "python/core/window.h"

/**
 * A layout is plain data. Its addresses are in the memory of the views. What layout_copy_move()
 * copies is in neighbouring lines of the cache.
 */
struct layout {
    int64_t bytes; /* that the move writes; 0: nothing to do, and no nest */
    bool single;   /* the nest is one move: `move` */
    struct move move;
    struct nest nest;
    struct window window;
    int64_t at[NEST_RANK_MAX]; /* first coordinate of the result in the destination */
};

/**
 * Places a window, which the caller has read, in the destination: sets all other members. `at` may
 * be null: the destination has the shape of the result.
 */
int layout_place(struct layout *layout, const struct view *src, const struct view *dst,
                 PyObject *at);

/**
 * Copies the members that creating the result and moving need, from a layout that is a single move:
 * the move, the shape of the result and the first addresses. The other members, which are much
 * longer, stay as they are.
 */
void layout_copy_move(struct layout *layout, const struct layout *from);

/** Adds distances in bytes to the addresses of a layout. */
void layout_shift(struct layout *layout, uintptr_t src, uintptr_t dst);

#endif /* CORE_LAYOUT_H */
