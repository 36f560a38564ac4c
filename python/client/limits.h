/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of jobs beside those of a move: priority, timeout, after, channels, name. */
#ifndef PYTHON_CLIENT_LIMITS_H
#define PYTHON_CLIENT_LIMITS_H

#include "python/client/connection.h"

/** Jobs in `after`. The names are those of the objects in `owner`. */
struct references {
    mli_client_ref ref[MLI_CLIENT_AFTER_MAX];
    size_t count;
    PyObject *owner;
};

int limits_init(void);

/* Each reads an object that may be null or None (the default). Returns 0, or -1 with an exception.
 */
int read_priority(PyObject *object, int32_t *priority);
int read_limit_ms(PyObject *object, uint32_t *ms);
int read_channels(PyObject *object, uint32_t *channels);
/** `name` becomes that of the object, or a new one: "py:", the token, a number. `size` bytes. */
int read_name(PyObject *object, const struct connection *connection, char *name, size_t size);
/** May wait for numbers of jobs: only for an object that is neither null nor None. */
int read_references(struct references *references, struct connection *connection, PyObject *object);

void references_release(struct references *references);

#endif /* PYTHON_CLIENT_LIMITS_H */
