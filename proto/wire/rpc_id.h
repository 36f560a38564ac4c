/* SPDX-License-Identifier: BSD-3-Clause */
/* What requests and replies share. Private to proto/. */
#ifndef PROTO_RPC_ID_H
#define PROTO_RPC_ID_H

#include "proto/wire/rpc.h"

/** A required integer or string; *id is RPC_ID_NULL where it is neither. Returns 0 or -1. */
int rpc_id_read(const struct json *value, struct rpc_id *id);
void rpc_id_write(struct jsonw *w, const struct rpc_id *id);

/** Requires "jsonrpc": "2.0". Returns 0 or -1. */
int rpc_version_check(const struct json *root);

#endif /* PROTO_RPC_ID_H */
