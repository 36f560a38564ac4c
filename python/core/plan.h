/* SPDX-License-Identifier: BSD-3-Clause */
/* The type mli.Plan. */
#ifndef CORE_PLAN_H
#define CORE_PLAN_H

#include <Python.h>

#include "python/core/operation.h"

/** Adds the type to the module. Returns 0, or -1 with an exception. */
int plan_init(PyObject *module);

/**
 * Moves over channels and waits. Takes the operation, as if by operation_close(). Returns the
 * result, or null with an exception.
 */
PyObject *plan_run_on_channels(struct operation *operation, uint32_t channels);

/** Reads the argument `channels`; null: 1. */
int plan_read_channels(PyObject *object, uint32_t *channels);

#endif /* CORE_PLAN_H */
