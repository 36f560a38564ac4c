/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One line of a client's, answered. To add a method, add it to RPC_METHOD_TABLE (proto/wire/rpc.h),
 * to the table in request.c, and to proto/PROTOCOL.md.
 */
#ifndef DAEMON_REQUEST_H
#define DAEMON_REQUEST_H

#include <stddef.h>

struct client;

/** Takes the line's descriptors from the client's frame, runs its method, and sees it answered. */
void request_handle(struct client *client, const char *line, size_t length);

#endif /* DAEMON_REQUEST_H */
