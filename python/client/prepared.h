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

/** Closes the descriptors of the arrays when the request is sent. */
void prepared_settle(PyObject *prepared);

/** Makes *value wrap(*value), and *store `store` unless it is None. Returns 0 or -1. */
int wrap_result(PyObject *wrap, PyObject *store, PyObject **value, PyObject **stored);

/** Makes wrap(array) the result of each start; `store` may be None. Returns 0 or -1. */
int prepared_wrap(PyObject *prepared, PyObject *wrap, PyObject *store);

/** Sets the number of the service's reply. */
void prepared_set_id(PyObject *prepared, uint32_t id);

/** Returns the serial number of the latest start's errand. */
uint64_t prepared_latest_start(const PyObject *prepared);

/** Notes that a start has ended. */
void prepared_start_ended(PyObject *prepared);

#endif /* PYTHON_CLIENT_PREPARED_H */
