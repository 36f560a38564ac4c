/* SPDX-License-Identifier: BSD-3-Clause */
/* Exceptions of the module: mli.ServiceError. */
#ifndef PYTHON_CLIENT_SERVICE_ERROR_H
#define PYTHON_CLIENT_SERVICE_ERROR_H

#include <Python.h>

#include "mli_client.h"

/** Imports mli._service_error. Returns 0, or -1 with an exception. */
int service_error_init(void);

/** Raises mli.ServiceError. */
void raise_service_error(const mli_client_error *error);

/** Raises mli.ServiceTimeoutError: no reply within a number of seconds. */
void raise_no_reply(double seconds);

/** Raises mli.ServiceError with a code of the library, as MISUSE, and a text. */
void raise_client_error(int code, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif /* PYTHON_CLIENT_SERVICE_ERROR_H */
