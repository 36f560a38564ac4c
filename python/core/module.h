/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The extension module mli._core. The files of this folder:
 *
 *     module.c      mli.move() and the functions of the module
 *     plan.c        the type mli.Plan: a move that is planned once
 *     transfer.c    the type mli.Transfer: a started move; flight.h runs it
 *     extension.c   sources with a move function in Python: mli.QTensor
 *     describe.c    descriptions of moves as Python objects
 *
 *     data flow: arguments -> view.h (memory of objects) -> window.h (its part, the move's steps)
 *                -> operation.h (source, result and layout) -> nest.h (moves of libmli)
 */
#pragma once

#include <Python.h>
#include <stdbool.h>

#include "python/core/nest.h"
#include "python/core/operation.h"
#include "python/core/window.h"

/* The type mli.Plan. */

/** Adds the type to the module. Returns 0, or -1 with an exception. */
int plan_init(PyObject *module);

/**
 * Moves over channels and waits. Closes the operation, like operation_close(). Returns the
 * result, or null with an exception.
 */
PyObject *plan_run_on_channels(struct operation *operation, uint32_t channels);

/** Reads the argument `channels`; null: 1. */
int plan_read_channels(PyObject *object, uint32_t *channels);

/* Descriptions of moves as Python objects, for the modules that are written in Python. */

/**
 * Returns (shape, strides, itemsize, dimensions, order, shape of the result), with a dictionary for
 * each dimension of the source; or null with an exception. Needs the GIL.
 */
PyObject *describe_window(const struct window *window, const struct view *src);

/*
 * Support for mli.QTensor, a source that contains an array and more, and is moved by Python code.
 */

/** Method of the module: registers a type with its functions. */
PyObject *extension_register(PyObject *module, PyObject *args);

/** Returns whether an object has the registered type. */
bool extension_has(PyObject *object);

/** Moves a source of the registered type. Returns the result, or null with an exception. */
PyObject *extension_move(const struct arguments *arguments);

/** Arrays and result of a plan whose source may have the registered type. */
struct extended {
    PyObject *parts;        /* owns the other members; null: the source is an array */
    PyObject *wrap, *store; /* wrap(array) is the result; store(), or None, follows each move */
};

/**
 * Replaces `src` and `out` of a source of the registered type by their arrays. Returns 0, or -1
 * with an exception. The caller drops extended->parts, after the arguments.
 */
int extension_open(struct extended *extended, struct arguments *arguments);

/*
 * The type mli.Transfer: a started move. Everything needs the GIL.
 */

/** Adds the type to the module. Returns 0, or -1 with an exception. */
int transfer_init(PyObject *module);

/**
 * Starts the moves of a nest (null: no bytes to move) and returns a new Transfer of `result`, or
 * null with an exception. `store` (may be null) is called once when the result is asked for and
 * complete. The nest, its memory and *running belong to `owner`, which stays alive
 * until the transfer is reaped; *running is true until then.
 */
PyObject *transfer_start(PyObject *owner, const struct nest *nest, uint32_t channels,
                         PyObject *result, PyObject *store, bool *running);

/** Calls `store`, which may be null. Returns 0, or -1 with its exception. */
int transfer_store(PyObject *store);

/**
 * Waits for a transfer and returns its result, or null with an exception. An exception of a signal
 * cancels the transfer, and waits for its end.
 */
PyObject *transfer_wait(PyObject *transfer);

/** Releases the objects that completed transfers have kept. */
void transfer_reap(void);
