/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layouts of recent moves. Programs repeat a move on many arrays of one shape, with arguments
 * that are the same objects each time: constants of the code, or variables. Such a move need not
 * be read and folded again.
 *
 * Everything needs the GIL.
 */
#ifndef CORE_RECENT_H
#define CORE_RECENT_H

#include <stdbool.h>

#include "python/core/arguments.h"
#include "python/core/layout.h"

/**
 * Finds the layout of a move with the same arguments, on arrays of the same shape and strides.
 * `dst` may be null: a new packed array. The addresses in *layout are distances from the first
 * byte of each array: layout_shift() adds those. Returns false if there is none.
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
