/* SPDX-License-Identifier: BSD-3-Clause */
/* mli.Prepared: a job that the service has checked and planned once. */
#ifndef PYTHON_CLIENT_PREPARED_H
#define PYTHON_CLIENT_PREPARED_H

#include "python/client/order.h"

int prepared_init(PyObject *module);

/**
 * Creates a prepared job without number, and takes the order, also on failure. Returns null with an
 * exception.
 */
PyObject *prepared_new(struct connection *connection, struct order *order, const char *name);

/** Sets the number of the service's reply. */
void prepared_set_id(PyObject *prepared, uint32_t id);

/** Returns the serial number of the latest start's errand. */
uint64_t prepared_latest_start(const PyObject *prepared);

/** Notes that a start has ended. */
void prepared_start_ended(PyObject *prepared);

#endif /* PYTHON_CLIENT_PREPARED_H */
