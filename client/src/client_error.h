/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLIENT_ERROR_H
#define CLIENT_ERROR_H

#include "mli_client.h"
#include "proto/json/fault.h"

/** Fills *error, which may be null. Returns `code`. */
int error_set(mli_client_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Converts an error reply; `job` as in rpc_error_read(). Returns its code. */
int error_from_fault(mli_client_error *error, const struct fault *fault, uint64_t job);

/** Copies an error to the heap; returns a static NO_MEMORY error if there is no memory. */
mli_client_error *error_copy(const mli_client_error *error);
/** Frees a result of error_copy() or null. */
void error_free(mli_client_error *error);
/** Copies an error to *to, which may be null. Returns the code. */
int error_give(mli_client_error *to, const mli_client_error *from);

#endif /* CLIENT_ERROR_H */
