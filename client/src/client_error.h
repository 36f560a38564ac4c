/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLIENT_ERROR_H
#define CLIENT_ERROR_H

#include "mli_client.h"
#include "proto/json/fault.h"

/** Fills *error, which may be null. Returns `code`. */
int error_set(mli_client_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** What the service said. Returns its code. */
int error_from_fault(mli_client_error *error, const struct fault *fault, uint64_t job);

/** A copy on the heap; where there is no memory for it, a constant that says so. Never null. */
mli_client_error *error_copy(const mli_client_error *error);
/** Frees what error_copy() gave. Null is fine. */
void error_free(mli_client_error *error);
/** Copies where `to` is given. Returns the code. */
int error_give(mli_client_error *to, const mli_client_error *from);

#endif /* CLIENT_ERROR_H */
