/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layouts of recent moves. Programs repeat a move on many arrays of one shape, and pass the
 * same objects as arguments each time: constants of the code, or variables. mli keeps the layout of
 * such a move, so that it does not read the arguments and fold the axes again.
 *
 * Everything needs the GIL.
 */
#ifndef CORE_RECENT_H
#define CORE_RECENT_H

#include "python/core/arguments.h"
#include "python/core/layout.h"

/**
 * Returns the layout of an earlier move with the arguments `arguments` on arrays with the shapes
 * and strides of `src` and `dst`, or null if no such layout is kept. A null `dst` means a new
 * packed array. The layout is a single move, and its addresses are distances from the first byte of
 * an array: the caller copies it before Python code runs, and adds these bytes with layout_shift().
 */
const struct layout *recent_find(const struct arguments *arguments, const struct view *src,
                                 const struct view *dst);

/**
 * Keeps a layout that is a single move, and references to its arguments, if the caller may use the
 * same arguments again. `dst` is the array, also if recent_find() had null.
 */
void recent_keep(const struct layout *layout, const struct arguments *arguments,
                 const struct view *src, const struct view *dst);

#endif /* CORE_RECENT_H */
