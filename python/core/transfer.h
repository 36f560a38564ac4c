/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The type mli.Transfer: a started move. Everything needs the GIL.
 */
#ifndef CORE_TRANSFER_H
#define CORE_TRANSFER_H

#include <Python.h>
#include <stdbool.h>

#include "python/core/nest.h"

/** Adds the type to the module. Returns 0, or -1 with an exception. */
int transfer_init(PyObject *module);

/**
 * Starts the moves of a nest (null: nothing to move) and returns a new Transfer of `result`, or
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

/** Releases what transfers that are done have kept. */
void transfer_reap(void);

#endif /* CORE_TRANSFER_H */
