/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NumPy arrays of booleans or numbers: their memory, shape and strides, read from the C structure
 * of the array. The buffer protocol of NumPy takes ten times as long.
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
 * Reads an array into *view, all but the members of other protocols. Returns false without an
 * exception for other objects, for arrays of subclasses or of other element types, and for arrays
 * with more than NEST_RANK_MAX dimensions: the caller opens these objects by a protocol.
 */
bool ndarray_read(struct view *view, PyObject *object);

/**
 * Returns the element type of an array of numpy.ndarray or of a subclass, where the attribute
 * `dtype` may be something else. A new reference, or null with an exception.
 */
PyObject *ndarray_dtype(PyObject *array);

/** Returns whether an object is a scalar of NumPy, as numpy.float32(1). */
bool ndarray_is_scalar(PyObject *object);

/** Returns an array of rank 0 with the value of a scalar. A new reference, or null. */
PyObject *ndarray_of_scalar(PyObject *scalar);

/** Returns whether an object is a boolean of NumPy. */
bool ndarray_is_boolean(PyObject *object);

#endif /* CORE_NDARRAY_H */
