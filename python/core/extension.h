/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources that are more than an array, and that functions in Python move: mli.QTensor.
 */
#ifndef CORE_EXTENSION_H
#define CORE_EXTENSION_H

#include "python/core/operation.h"

/** Method of the module: registers a type with its functions. */
PyObject *extension_register(PyObject *module, PyObject *args);

/** Returns whether an object has the registered type. */
bool extension_has(PyObject *object);

/** Moves a source of the registered type. Returns the result, or null with an exception. */
PyObject *extension_move(const struct arguments *arguments);

/** What a plan for a source of the registered type moves, and what it returns. */
struct extended {
    PyObject *parts;        /* owns the others; null: the source is an array */
    PyObject *wrap, *store; /* wrap(array) is the result; store(), or None, follows each move */
};

/**
 * Replaces `src` and `out` of a source of the registered type by their arrays. Returns 0, or -1
 * with an exception. The caller drops extended->parts, after the arguments.
 */
int extension_open(struct extended *extended, struct arguments *arguments);

#endif /* CORE_EXTENSION_H */
