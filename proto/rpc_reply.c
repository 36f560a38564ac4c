/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies: written by the service, read by the client. */
#include <stdio.h>
#include <string.h>

#include "mli_helpers_api.h"
#include "rpc.h"
#include "rpc_id.h"

static void begin_reply(struct jsonw *w, const struct rpc_id *id)
{
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "jsonrpc", "2.0");
    rpc_id_write(w, id);
}

static void end_reply(struct jsonw *w)
{
    jsonw_object_end(w);
    jsonw_newline(w);
}

void rpc_write_error(struct jsonw *w, const struct rpc_id *id, const struct fault *fault)
{
    begin_reply(w, id);
    jsonw_object_begin(w, "error");
    jsonw_int(w, "code", fault->code);
    jsonw_string(w, "message", fault->text);
    jsonw_object_begin(w, "data");
    jsonw_string(w, "name", fault_name(fault->code));
    if (fault->code == FAULT_REFUSED)
        jsonw_string(w, "status", mli_status_name(fault->status));
    if (fault->has_pointer)
        jsonw_string(w, "pointer", fault->pointer);
    jsonw_object_end(w);
    jsonw_object_end(w);
    end_reply(w);
}

void rpc_write_job_result(struct jsonw *w, const struct rpc_id *id, const struct job_result *result)
{
    begin_reply(w, id);
    job_result_write(w, "result", result);
    end_reply(w);
}

void rpc_write_pong(struct jsonw *w, const struct rpc_id *id)
{
    begin_reply(w, id);
    jsonw_object_begin(w, "result");
    jsonw_bool(w, "pong", true);
    jsonw_object_end(w);
    end_reply(w);
}

void rpc_write_info(struct jsonw *w, const struct rpc_id *id, const struct daemon_info *info)
{
    begin_reply(w, id);
    daemon_info_write(w, "result", info);
    end_reply(w);
}

static const char *const status_names[] = {
#define STATUS_NAME(name, value, text) "MLI_STATUS_" #name,
    MLI_STATUS_TABLE(STATUS_NAME)
#undef STATUS_NAME
        NULL};

static const mli_status statuses[] = {
#define STATUS_VALUE(name, value, text) MLI_STATUS_##name,
    MLI_STATUS_TABLE(STATUS_VALUE)
#undef STATUS_VALUE
};

static int read_status(const struct json *data, mli_status *status)
{
    struct json value = json_member(data, "status");
    size_t index;

    *status = MLI_STATUS_OK;
    if (!json_present(&value))
        return 0;
    if (json_choice(&value, status_names, &index) < 0)
        return -1;
    *status = statuses[index];
    return 0;
}

static int read_error(const struct json *error, struct fault *fault)
{
    static const char *const keys[] = {"code", "message", "data", NULL};
    static const char *const data_keys[] = {"name", "status", "pointer", NULL};
    struct json code = json_member(error, "code"), message = json_member(error, "message");
    struct json data = json_member(error, "data"), place = json_member(&data, "pointer");
    const char *text, *pointer = NULL;
    mli_status status = MLI_STATUS_OK;
    int64_t number;

    if (json_object(error, keys) < 0 || json_int(&code, INT32_MIN, INT32_MAX, &number) < 0 ||
        json_text(&message, PROTO_REPLY_MAX, &text) < 0)
        return -1;
    if (json_present(&data) &&
        (json_object(&data, data_keys) < 0 || read_status(&data, &status) < 0))
        return -1;
    if (json_present(&place) && json_text(&place, PROTO_REPLY_MAX, &pointer) < 0)
        return -1;
    fault_set(fault, (enum fault_code)number, pointer, "%s", text);
    fault->status = status;
    return 0;
}

static int read_reply(struct rpc_reply *reply)
{
    static const char *const keys[] = {"jsonrpc", "id", "result", "error", NULL};
    struct json id = json_member(&reply->root, "id");
    struct json error = json_member(&reply->root, "error");

    if (json_object(&reply->root, keys) < 0 || rpc_version_check(&reply->root) < 0)
        return -1;
    if (!json_is_null(&id) && rpc_id_read(&id, &reply->id) < 0)
        return -1;
    reply->result = json_member(&reply->root, "result");
    if (json_present(&reply->result) == json_present(&error))
        return json_complain(&reply->root, "either \"result\" or \"error\" is wanted");
    reply->ok = json_present(&reply->result);
    return reply->ok ? 0 : read_error(&error, &reply->error);
}

int rpc_reply_parse(const char *line, size_t length, struct rpc_reply *reply)
{
    *reply = (struct rpc_reply){0};
    if (json_parse(line, length, &prescan_reply_limits, &reply->root, &reply->fault) < 0)
        return -1;
    return read_reply(reply);
}

void rpc_reply_finish(struct rpc_reply *reply)
{
    json_free(&reply->root);
    reply->result = (struct json){0};
}
