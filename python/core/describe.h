/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptions of moves as Python objects, for what is written in Python. */
#ifndef CORE_DESCRIBE_H
#define CORE_DESCRIBE_H

#include "python/core/window.h"

/**
 * Returns (shape, strides, itemsize, dimensions, order, shape of the result), with a dictionary for
 * each dimension of the source; or null with an exception. Needs the GIL.
 */
PyObject *describe_window(const struct window *window, const struct view *src);

#endif /* CORE_DESCRIBE_H */
