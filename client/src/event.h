/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLIENT_EVENT_H
#define CLIENT_EVENT_H

#include "client/src/client_state.h"
#include "proto/json/json.h"

/** Calls the callback with the params of a notification "event"; ignores invalid params. */
void event_deliver(mli_client *client, const struct json *params);

#endif /* CLIENT_EVENT_H */
