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

#include <stdbool.h>

#include "python/core/arguments.h"
#include "python/core/layout.h"

/**
 * Finds the layout of an earlier move with the arguments `arguments` on arrays with the shapes and
 * strides of `src` and `dst`. A null `dst` means a new packed array. The addresses in *layout
 * are distances from the first byte of an array; the caller adds these bytes with layout_shift().
 * Returns false if no such layout is kept.
 */
bool recent_find(struct layout *layout, const struct arguments *arguments, const struct view *src,
                 const struct view *dst);

/**
 * Keeps a layout that is a single move, and references to its arguments, if the caller may use the
 * same arguments again. `dst` is the array, also if recent_find() had null.
 */
void recent_keep(const struct layout *layout, const struct arguments *arguments,
                 const struct view *src, const struct view *dst);

#endif /* CORE_RECENT_H */
