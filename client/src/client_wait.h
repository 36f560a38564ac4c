/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLIENT_WAIT_H
#define CLIENT_WAIT_H

#include "client/src/client_state.h"

/** Sends and receives once, after waiting for the socket at most until `deadline`, a time of
 *  clock_deadline(). Returns 0 or an error code. */
int wait_round(mli_client *client, int64_t deadline, mli_client_error *error);

/**
 * Waits until a request has ended. Returns 0 with the reply in its slot; WAITED or INTERRUPTED with
 * the request still pending; or the code with which the request failed, with its slot released.
 */
int wait_for_answer(mli_client *client, mli_client_ticket ticket, int timeout_ms,
                    mli_client_error *error);

#endif /* CLIENT_WAIT_H */
