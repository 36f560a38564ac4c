/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of NumPy arrays whose elements are booleans or numbers of a built-in type, read from
 * the array's own structure: the buffer protocol takes ten times as long.
 *
 * Everything needs the GIL.
 */
#ifndef CORE_NDARRAY_H
#define CORE_NDARRAY_H

#include <Python.h>
#include <stdbool.h>

struct view;

/** Imports the types. Returns 0, or -1 with an exception. */
int ndarray_init(void);

/**
 * Reads an array into *view, all but the members of other protocols. Returns false, without an
 * exception, if the object is none of these arrays: then it is opened by a protocol. Arrays of
 * subclasses and arrays with more than NEST_RANK_MAX dimensions are not read.
 */
bool ndarray_read(struct view *view, PyObject *object);

#endif /* CORE_NDARRAY_H */
