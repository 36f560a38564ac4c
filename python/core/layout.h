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

/** A layout is plain data. Its addresses are in the memory of the views. */
struct layout {
    struct window window;
    int64_t at[NEST_RANK_MAX]; /* first coordinate of the result in the destination */
    struct nest nest;
    int64_t bytes; /* that the move writes; 0: nothing to do, and no nest */
    bool single;   /* the nest is one move: `move` */
    struct move move;
};

/**
 * Places a window, which the caller has read, in the destination: sets all other members. `at` may
 * be null: the destination has the shape of the result.
 */
int layout_place(struct layout *layout, const struct view *src, const struct view *dst,
                 PyObject *at);

/** Adds distances in bytes to the addresses of a layout. */
void layout_shift(struct layout *layout, uintptr_t src, uintptr_t dst);

#endif /* CORE_LAYOUT_H */
