/* SPDX-License-Identifier: BSD-3-Clause */
/* mli.Prepared: a job that the service has checked and planned once. */
#pragma once

#include "python/client/py_job.h"

int prepared_init(PyObject *module);

/**
 * Creates a prepared job without number, and takes ownership of the job, also on failure. Returns
 * null with an exception.
 */
PyObject *prepared_new(struct connection *connection, struct py_job *job, const char *name);

/** Closes the descriptors of the arrays when the request is sent. */
void prepared_settle(PyObject *prepared);
