/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes: lines, descriptors, and bytes that follow a line. */
#ifndef CLIENT_RECEIVE_H
#define CLIENT_RECEIVE_H

#include "client/src/client_state.h"

/** Takes in what the socket has, a bounded amount of it, and calls callbacks. Returns 0 or the code
 *  with which the connection is lost. */
int receive(mli_client *client);

#endif /* CLIENT_RECEIVE_H */
