/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies: written by the service, read by the client. */
#include <stdlib.h>
#include <string.h>

#include "proto/json/members.h"
#include "proto/wire/inline_payload.h"
#include "proto/wire/rpc.h"
#include "proto/wire/rpc_error.h"
#include "proto/wire/rpc_id.h"

const struct json_limits rpc_reply_limits = {
    .bytes = PROTO_REPLY_MAX, .depth = JSON_DEPTH_MAX, .values = PROTO_REPLY_MAX / 2};

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

void rpc_result_begin(struct jsonw *w, const struct rpc_id *id, uint32_t fds)
{
    begin_reply(w, id);
    if (fds > 0)
        jsonw_uint(w, "fds", fds);
    jsonw_object_begin(w, "result");
}

void rpc_result_end(struct jsonw *w)
{
    jsonw_object_end(w);
    end_reply(w);
}

void rpc_write_job_error(struct jsonw *w, const struct rpc_id *id, const struct fault *fault,
                         uint64_t job)
{
    begin_reply(w, id);
    rpc_error_write(w, "error", fault, job);
    end_reply(w);
}

void rpc_write_error(struct jsonw *w, const struct rpc_id *id, const struct fault *fault)
{
    rpc_write_job_error(w, id, fault, 0);
}

void rpc_write_job_result(struct jsonw *w, const struct rpc_id *id, const struct job_result *result)
{
    begin_reply(w, id);
    job_result_write(w, "result", result);
    end_reply(w);
}

void rpc_write_pong(struct jsonw *w, const struct rpc_id *id)
{
    rpc_result_begin(w, id, 0);
    jsonw_bool(w, "pong", true);
    rpc_result_end(w);
}

void rpc_write_info(struct jsonw *w, const struct rpc_id *id, const struct daemon_info *info)
{
    begin_reply(w, id);
    daemon_info_write(w, "result", info);
    end_reply(w);
}

static int read_notification(struct rpc_reply *reply, const struct json *method)
{
    const char *text;

    if (json_text(method, PROTO_REPLY_MAX, &text) < 0)
        return -1;
    reply->params = json_member(&reply->root, "params");
    if (strcmp(text, "hello") == 0)
        reply->notification = RPC_HELLO;
    else if (strcmp(text, "event") == 0)
        reply->notification = RPC_EVENT;
    else
        reply->notification = RPC_OTHER_NOTIFICATION;
    return 0;
}

static int read_inline(struct rpc_reply *reply)
{
    struct json value = json_member(&reply->root, "inline");

    if (!json_present(&value))
        return 0;
    reply->inlines = malloc(sizeof *reply->inlines);
    if (!reply->inlines)
        return fault_set(&reply->fault, FAULT_INTERNAL, NULL, "no memory for a reply");
    return inline_reply_read(&value, reply->inlines);
}

static int read_answer(struct rpc_reply *reply, const struct json *id)
{
    struct json error = json_member(&reply->root, "error");

    if (!json_is_null(id) && rpc_id_read(id, &reply->id) < 0)
        return -1;
    reply->result = json_member(&reply->root, "result");
    if (json_present(&reply->result) == json_present(&error))
        return json_complain(&reply->root, "either \"result\" or \"error\" is wanted");
    reply->ok = json_present(&reply->result);
    return reply->ok ? 0 : rpc_error_read(&error, &reply->error, &reply->error_job);
}

static int read_line(struct rpc_reply *reply)
{
    struct json id = json_member(&reply->root, "id");
    struct json method = json_member(&reply->root, "method");
    int64_t fds = 0;

    if (json_object(&reply->root, NULL) < 0 || rpc_version_check(&reply->root) < 0 ||
        optional_int(&reply->root, "fds", 0, PROTO_FDS_MAX, &fds) < 0)
        return -1;
    reply->fds = (uint32_t)fds;
    if (json_present(&method) && !json_present(&id))
        return read_notification(reply, &method);
    return read_inline(reply) < 0 ? -1 : read_answer(reply, &id);
}

int rpc_reply_parse(const char *line, size_t length, struct rpc_reply *reply)
{
    *reply = (struct rpc_reply){0};
    if (json_parse(line, length, &rpc_reply_limits, &reply->root, &reply->fault) < 0)
        return -1;
    return read_line(reply);
}

void rpc_reply_finish(struct rpc_reply *reply)
{
    json_free(&reply->root);
    free(reply->inlines);
    reply->inlines = NULL;
    reply->result = reply->params = (struct json){0};
}
