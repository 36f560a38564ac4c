/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives lines, their descriptors, and the bytes after a line; completes the pending requests. */
#ifndef CLIENT_RECEIVE_H
#define CLIENT_RECEIVE_H

#include "client/src/client_state.h"

/** Receives a bounded amount without waiting, and calls callbacks. Returns 0, or the code with
 * which the connection was lost. */
int receive(mli_client *client);

/** Ends a request, with an error unless `error` is null: calls its callback, or keeps the outcome
 * in its slot. */
void reply_end(mli_client *client, mli_client_ticket ticket, const mli_client_error *error);

#endif /* CLIENT_RECEIVE_H */
