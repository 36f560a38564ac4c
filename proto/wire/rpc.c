/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/rpc.h"

#include <stdlib.h>
#include <string.h>

#include "proto/wire/fault_object.h"
#include "proto/wire/inline_payload.h"

const struct json_limits rpc_request_limits = {
    .bytes = PROTO_LINE_MAX, .depth = JSON_DEPTH_MAX, .values = PROTO_VALUES_MAX};
const struct json_limits rpc_reply_limits = {
    .bytes = PROTO_REPLY_MAX, .depth = JSON_DEPTH_MAX, .values = PROTO_REPLY_VALUES_MAX};

/* The members "id" and "jsonrpc". */

static int read_id(const struct json *value, struct rpc_id *id)
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
    memcpy(id->text, text, strlen(text) + 1);
    id->kind = RPC_ID_STRING;
    return 0;
}

static void write_id(struct jsonw *w, const struct rpc_id *id)
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

static int check_version(const struct json *version)
{
    const char *text;

    if (json_string(version, PROTO_NAME_MAX, &text) < 0)
        return -1;
    return strcmp(text, "2.0") == 0 ? 0 : json_complain(version, "\"2.0\" is required");
}

/* Requests: the service reads them. */

static const char *const method_names[] = {
#define METHOD_NAME(name, text) text,
    RPC_METHOD_TABLE(METHOD_NAME)
#undef METHOD_NAME
        NULL};

/*
 * Reads "fds" before all other members: without the number of descriptors of this line, the
 * descriptors of later lines cannot be assigned. If "fds" is invalid or duplicate, request->fds
 * stays UINT32_MAX.
 */
static int read_fds(struct rpc_request *request)
{
    struct json first = json_member(&request->root, "fds"), member = first;
    int64_t number;

    if (!json_is_object(&request->root)) {
        request->fds = 0;
        return fault_set(&request->fault, FAULT_INVALID_REQUEST, "",
                         json_is_array(&request->root)
                             ? "batches are not supported: send one request object per line"
                             : "a request object is required");
    }
    if (!json_present(&first)) {
        request->fds = 0;
        return 0;
    }
    if (json_int(&first, 0, PROTO_FDS_MAX, &number) < 0)
        return -1;
    while (json_next(&request->root, &member)) {
        if (strcmp(member.key, "fds") == 0)
            return json_complain(&member, "given twice");
    }
    request->fds = (uint32_t)number;
    return 0;
}

static int read_method(struct rpc_request *request, const struct json *method)
{
    size_t index;

    if (json_choice(method, method_names, &index) < 0) {
        if (json_is_string(method))
            request->fault.code = FAULT_METHOD_NOT_FOUND;
        return -1;
    }
    request->method = (enum rpc_method)(RPC_NO_METHOD + 1 + index);
    return 0;
}

static int read_envelope(struct rpc_request *request)
{
    enum { VERSION, METHOD, PARAMS, ID, FDS, MEMBERS };
    static const char *const keys[] = {"jsonrpc", "method", "params", "id", "fds", NULL};
    struct json members[MEMBERS], id = json_member(&request->root, "id");

    /* Reads "id" before it checks the other members: the error reply about them needs it. */
    if (read_id(&id, &request->id) < 0 || json_members(&request->root, keys, members) < 0 ||
        check_version(&members[VERSION]) < 0)
        return -1;
    request->params = members[PARAMS];
    if (json_present(&request->params) && !json_is_object(&request->params))
        return json_complain(&request->params,
                             "an object is required: parameters are passed by name");
    return read_method(request, &members[METHOD]);
}

/* The other methods have default params, or their read functions refuse absent params. */
static bool needs_params(enum rpc_method method)
{
    return method == RPC_JOB_SUBMIT || method == RPC_JOB_PREPARE;
}

static bool takes_params(enum rpc_method method)
{
    switch (method) {
    case RPC_DAEMON_PING:
    case RPC_DAEMON_INFO:
    case RPC_DAEMON_STATS:
    case RPC_DAEMON_RESUME:
    case RPC_BUFFER_LIST:
        return false;
    default:
        return true;
    }
}

static int check_params(struct rpc_request *request)
{
    static const char *const none[] = {NULL};

    if (needs_params(request->method) && !json_present(&request->params))
        return json_complain(&request->params, "missing; the job is required");
    /* Make params a root, so that the pointers of faults in a job are relative to the job. */
    request->params.parent = NULL;
    if (!takes_params(request->method) && json_present(&request->params))
        return json_object(&request->params, none);
    return 0;
}

int rpc_request_parse(const char *line, size_t length, struct rpc_request *request)
{
    request->id = (struct rpc_id){0};
    request->fds = UINT32_MAX;
    request->params = (struct json){0};
    if (json_parse(line, length, &rpc_request_limits, &request->root, &request->fault) < 0)
        return -1;
    if (read_fds(request) < 0 || read_envelope(request) < 0) {
        if (request->fault.code == FAULT_INVALID_PARAMS)
            request->fault.code = FAULT_INVALID_REQUEST;
        return -1;
    }
    return check_params(request);
}

void rpc_request_finish(struct rpc_request *request)
{
    json_free(&request->root);
    request->params = (struct json){0};
}

/* Replies: the service writes replies, the client reads them. */

static void begin_reply(struct jsonw *w, const struct rpc_id *id)
{
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "jsonrpc", "2.0");
    write_id(w, id);
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
    fault_object_write(w, "error", fault, job);
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

    if (!json_is_null(id) && read_id(id, &reply->id) < 0)
        return -1;
    reply->result = json_member(&reply->root, "result");
    if (json_present(&reply->result) == json_present(&error))
        return json_complain(&reply->root, "either \"result\" or \"error\" is required");
    reply->ok = json_present(&reply->result);
    return reply->ok ? 0 : fault_object_read(&error, &reply->error, &reply->error_job);
}

static int read_line(struct rpc_reply *reply)
{
    struct json id = json_member(&reply->root, "id");
    struct json method = json_member(&reply->root, "method");
    struct json version = json_member(&reply->root, "jsonrpc");
    int64_t fds = 0;

    if (json_object(&reply->root, NULL) < 0 || check_version(&version) < 0 ||
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
