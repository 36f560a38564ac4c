/* SPDX-License-Identifier: BSD-3-Clause */
/* The type mli._client.Connection and its methods. */
#ifndef PYTHON_CLIENT_REQUESTS_H
#define PYTHON_CLIENT_REQUESTS_H

#include "python/client/connection.h"

extern PyTypeObject *connection_type;

/** Adds the type to the module. Returns 0, or -1 with an exception. */
int requests_init(PyObject *module);

/** Sends a request whose reply is dropped. Ignores errors. */
void requests_send_quietly(struct connection *connection, const char *method, const char *params);

/* Functions of the module that connect. */
PyObject *requests_connect(PyObject *module, PyObject *path);
PyObject *requests_adopt(PyObject *module, PyObject *args);
PyObject *requests_spawn(PyObject *module, PyObject *arguments);

#endif /* PYTHON_CLIENT_REQUESTS_H */
