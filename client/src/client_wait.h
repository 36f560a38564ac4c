/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLIENT_WAIT_H
#define CLIENT_WAIT_H

#include "client/src/client_state.h"

/** Sends and receives, waiting for the socket until `deadline` (clock_deadline()) at most. Returns
 *  0 after some progress, or a code. */
int wait_round(mli_client *client, int64_t deadline, mli_client_error *error);

/**
 * Waits until the request has ended. Returns 0, and its slot holds the answer; WAITED or
 * INTERRUPTED, and it goes on; or the code with which it failed, and its slot is released.
 */
int wait_for_answer(mli_client *client, mli_client_ticket ticket, int timeout_ms,
                    mli_client_error *error);

#endif /* CLIENT_WAIT_H */
