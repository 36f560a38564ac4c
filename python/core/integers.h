/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Integers and sequences of integers in arguments. `field` and `index` (-1: none) name the place of
 * an object in errors, like "pad" or "pad[1]".
 *
 * Everything needs the GIL. A function that returns int returns 0, or -1 with a Python exception.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#define ELEMENTS_MAX                                                                               \
    (INT64_MAX / 16) /* limit on elements of a dimension, so that sums cannot overflow */

/** A position in an argument, for error messages. */
struct place {
    char text[32];
};

struct place place_of(const char *field, Py_ssize_t index);

/** Returns whether an object is an integer, and not an array of integers. */
bool is_integer(PyObject *object);

/** Reads an integer of at most ELEMENTS_MAX, or at least -ELEMENTS_MAX. */
int read_integer(PyObject *object, const char *field, Py_ssize_t index, int64_t *out);

/** Reads an integer from `least` to ELEMENTS_MAX. */
int read_at_least(PyObject *object, const char *field, Py_ssize_t index, int64_t least,
                  int64_t *out);

/** Converts a sequence to a tuple. Refuses text, and raises a TypeError: `what` is required. */
PyObject *tuple_of(PyObject *object, const char *field, Py_ssize_t index, const char *what);

/** Returns a tuple of `count` integers. */
PyObject *tuple_of_integers(const int64_t *number, uint32_t count);

/** A name for PyArg_ParseTupleAndKeywords(), which does not write it but takes a char *. */
#define KEYWORD(text) ((char *)(uintptr_t)(text))
