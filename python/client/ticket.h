/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PYTHON_CLIENT_TICKET_H
#define PYTHON_CLIENT_TICKET_H

#include "python/client/errand.h"

int ticket_init(PyObject *module);

/** Returns the ticket of a new errand, which it owns when the errand has ended; or null. */
PyObject *ticket_new(struct connection *connection, struct errand *errand);

/** Frees an errand that has ended, and that has no ticket. */
void errand_free(struct errand *errand);

#endif /* PYTHON_CLIENT_TICKET_H */
