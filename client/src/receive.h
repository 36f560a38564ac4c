/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes: lines, descriptors, and bytes that follow a line. */
#ifndef CLIENT_RECEIVE_H
#define CLIENT_RECEIVE_H

#include "client/src/client_state.h"

/** Takes in what the socket has, a bounded amount of it, and calls callbacks. Returns 0 or the code
 *  with which the connection is lost. */
int receive(mli_client *client);

/** Ends a request, with `error` or (null) well: runs its callback, or keeps the outcome in its
 * slot. */
void reply_end(mli_client *client, mli_client_ticket ticket, const mli_client_error *error);

#endif /* CLIENT_RECEIVE_H */
