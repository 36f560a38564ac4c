/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods of mli._client.Connection that send moves as jobs. */
#ifndef PYTHON_CLIENT_JOBS_H
#define PYTHON_CLIENT_JOBS_H

#include "python/client/connection.h"

/** Sends a job. Returns its ticket, or null with an exception. */
PyObject *jobs_submit(struct connection *self, PyObject *args, PyObject *kwargs);

/** Prepares a job. Returns a ticket whose result is the mli.Prepared; or null with an exception. */
PyObject *jobs_prepare(struct connection *self, PyObject *args, PyObject *kwargs);

#endif /* PYTHON_CLIENT_JOBS_H */
