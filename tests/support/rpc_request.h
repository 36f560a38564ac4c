/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a request: begin, the members of its params, end. */
#ifndef TESTS_SUPPORT_RPC_REQUEST_H
#define TESTS_SUPPORT_RPC_REQUEST_H

#include "proto/wire/rpc.h"

static inline void rpc_request_begin(struct jsonw *w, int64_t id, enum rpc_method method,
                                     uint32_t fds)
{
    static const char *const names[] = {
#define METHOD_NAME(name, text) [RPC_##name] = text,
        RPC_METHOD_TABLE(METHOD_NAME)
#undef METHOD_NAME
    };

    jsonw_object_begin(w, NULL);
    jsonw_string(w, "jsonrpc", "2.0");
    jsonw_int(w, "id", id);
    jsonw_string(w, "method", names[method]);
    if (fds > 0)
        jsonw_uint(w, "fds", fds);
    jsonw_object_begin(w, "params");
}

static inline void rpc_request_end(struct jsonw *w)
{
    jsonw_object_end(w);
    jsonw_object_end(w);
    jsonw_newline(w);
}

#endif /* TESTS_SUPPORT_RPC_REQUEST_H */
