/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NumPy arrays over the memory of other objects. The protocols of an object are used once: it may
 * answer differently the next time, and the capsules of DLPack are for one use.
 */
#pragma once

#include <stdbool.h>

#include "python/core/view.h"

/** Imports the modules and types for arrays. Returns 0, or -1 with an exception. */
int array_init(void);

/**
 * Returns an array with the memory, the shape and the element type of an object, and keeps the
 * object alive. Returns a NumPy array unchanged. `name` is the name of the argument, for errors. A
 * new reference, or null with an exception.
 */
PyObject *array_of(PyObject *object, const char *name);

/** Returns whether arrays `a` and `b`, with elements of equal size, have the same element type. */
bool array_types_match(PyObject *a, struct view *a_view, PyObject *b, struct view *b_view);

/** Returns the dtype of `object`. `view` is its open view. A new reference, or null. */
PyObject *array_dtype(PyObject *object, struct view *view);
