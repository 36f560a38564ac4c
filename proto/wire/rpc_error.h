/* SPDX-License-Identifier: BSD-3-Clause */
/* A fault as the object "error" of a reply, and of a job that ended badly. Private to proto/. */
#ifndef PROTO_RPC_ERROR_H
#define PROTO_RPC_ERROR_H

#include <stdint.h>

#include "proto/json/fault.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"

/** `job` is the "job" of its data; 0: none. */
void rpc_error_write(struct jsonw *w, const char *key, const struct fault *fault, uint64_t job);
/** Returns 0 or -1 (error's fault); unknown members are skipped. */
int rpc_error_read(const struct json *error, struct fault *fault, uint64_t *job);

#endif /* PROTO_RPC_ERROR_H */
