/* SPDX-License-Identifier: BSD-3-Clause */
/* A line from the service, and what becomes of the request that it answers. */
#ifndef CLIENT_REPLY_H
#define CLIENT_REPLY_H

#include "client/src/client_state.h"

/** Any line. Returns 0 or the code with which the connection is lost. */
int reply_receive(mli_client *client, const char *line, size_t length);

/** A request has ended, well or (`error`) not: tells whoever wants to know. */
void reply_end(mli_client *client, mli_client_ticket ticket, const mli_client_error *error);

#endif /* CLIENT_REPLY_H */
