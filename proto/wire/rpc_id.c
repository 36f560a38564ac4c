/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/rpc_id.h"

#include <stdio.h>
#include <string.h>

int rpc_id_read(const struct json *value, struct rpc_id *id)
{
    const char *text;

    id->kind = RPC_ID_NULL;
    if (json_is_int(value)) {
        if (json_int(value, INT64_MIN, INT64_MAX, &id->number) < 0)
            return -1;
        id->kind = RPC_ID_INT;
        return 0;
    }
    if (!json_is_string(value))
        return json_complain(value, "a whole number or a string is required");
    if (json_text(value, PROTO_NAME_MAX, &text) < 0)
        return -1;
    snprintf(id->text, sizeof id->text, "%s", text);
    id->kind = RPC_ID_STRING;
    return 0;
}

void rpc_id_write(struct jsonw *w, const struct rpc_id *id)
{
    switch (id->kind) {
    case RPC_ID_NULL:
        jsonw_null(w, "id");
        break;
    case RPC_ID_INT:
        jsonw_int(w, "id", id->number);
        break;
    case RPC_ID_STRING:
        jsonw_string(w, "id", id->text);
        break;
    }
}

int rpc_version_check(const struct json *root)
{
    struct json version = json_member(root, "jsonrpc");
    const char *text;

    if (json_string(&version, PROTO_NAME_MAX, &text) < 0)
        return -1;
    return strcmp(text, "2.0") == 0 ? 0 : json_complain(&version, "\"2.0\" is wanted");
}
