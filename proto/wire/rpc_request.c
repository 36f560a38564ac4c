/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: read by the service, written by the client. */
#include <string.h>

#include "proto/wire/inline_payload.h"
#include "proto/wire/rpc.h"
#include "proto/wire/rpc_id.h"

const struct json_limits rpc_request_limits = {
    .bytes = PROTO_LINE_MAX, .depth = JSON_DEPTH_MAX, .values = PROTO_VALUES_MAX};

static const char *const method_names[] = {
#define METHOD_NAME(name, text) text,
    RPC_METHOD_TABLE(METHOD_NAME)
#undef METHOD_NAME
        NULL};

static const enum rpc_method methods[] = {
#define METHOD_VALUE(name, text) RPC_##name,
    RPC_METHOD_TABLE(METHOD_VALUE)
#undef METHOD_VALUE
};

/*
 * "fds" comes before everything else: a receiver that does not know how many descriptors belong to
 * a line cannot follow the stream. Left at UINT32_MAX where it is malformed or there twice.
 */
static int read_fds(struct rpc_request *request)
{
    struct json member = {0};
    bool found = false;
    int64_t number = 0;

    if (!json_is_object(&request->root)) {
        request->fds = 0;
        return fault_set(&request->fault, FAULT_INVALID_REQUEST, "",
                         json_is_array(&request->root)
                             ? "batches are not served: one request object per line"
                             : "a request object is wanted");
    }
    while (json_next(&request->root, &member)) {
        if (member.key[0] != 'f' || strcmp(member.key, "fds") != 0)
            continue;
        if (found)
            return json_complain(&member, "given twice");
        if (json_int(&member, 0, PROTO_FDS_MAX, &number) < 0)
            return -1;
        found = true;
    }
    request->fds = (uint32_t)number;
    return 0;
}

static int read_method(struct rpc_request *request)
{
    struct json method = json_member(&request->root, "method");
    size_t index;

    if (json_choice(&method, method_names, &index) < 0) {
        if (json_is_string(&method))
            request->fault.code = FAULT_METHOD_NOT_FOUND;
        return -1;
    }
    request->method = methods[index];
    return 0;
}

static int read_envelope(struct rpc_request *request)
{
    static const char *const keys[] = {"jsonrpc", "id", "method", "fds", "params", NULL};
    struct json id = json_member(&request->root, "id");

    if (rpc_id_read(&id, &request->id) < 0 || json_object(&request->root, keys) < 0 ||
        rpc_version_check(&request->root) < 0)
        return -1;
    request->params = json_member(&request->root, "params");
    if (json_present(&request->params) && !json_is_object(&request->params))
        return json_complain(&request->params, "an object is wanted: parameters go by name");
    return read_method(request);
}

/* What a method wants of its params; those that are there are read by whoever knows them. */
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
        return json_complain(&request->params, "missing, the job is required");
    /* Its own root from here on: a job's faults point into the job, wherever it came from. */
    request->params.parent = NULL;
    if (!takes_params(request->method) && json_present(&request->params))
        return json_object(&request->params, none);
    return 0;
}

int rpc_request_parse(const char *line, size_t length, struct rpc_request *request)
{
    *request = (struct rpc_request){.fds = UINT32_MAX};
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

static const char *method_text(enum rpc_method method)
{
    for (size_t i = 0; method_names[i]; i++) {
        if (methods[i] == method)
            return method_names[i];
    }
    return "";
}

static void begin_envelope(struct jsonw *w, int64_t id, enum rpc_method method, uint32_t fds)
{
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "jsonrpc", "2.0");
    jsonw_int(w, "id", id);
    jsonw_string(w, "method", method_text(method));
    if (fds > 0)
        jsonw_uint(w, "fds", fds);
}

static void end_envelope(struct jsonw *w)
{
    jsonw_object_end(w);
    jsonw_newline(w);
}

void rpc_request_begin(struct jsonw *w, int64_t id, enum rpc_method method, uint32_t fds,
                       const struct inline_payload *inlines)
{
    begin_envelope(w, id, method, fds);
    if (inlines)
        inline_payload_write(w, "inline", inlines);
    jsonw_object_begin(w, "params");
}

void rpc_request_end(struct jsonw *w)
{
    jsonw_object_end(w);
    end_envelope(w);
}

void rpc_write_submit(struct jsonw *w, int64_t id, uint32_t fds, const struct job *job)
{
    rpc_request_begin(w, id, RPC_JOB_SUBMIT, fds, NULL);
    job_wire_write_members(w, job);
    rpc_request_end(w);
}

void rpc_write_prepare(struct jsonw *w, int64_t id, uint32_t fds, const struct job *job)
{
    struct job shown = *job; /* without what belongs to a start */

    shown.common.timeout_ms = 0;
    shown.after.count = 0;
    shown.detach = false;
    rpc_request_begin(w, id, RPC_JOB_PREPARE, fds, NULL);
    job_wire_write_members(w, &shown);
    rpc_request_end(w);
}

void rpc_write_call(struct jsonw *w, int64_t id, enum rpc_method method)
{
    begin_envelope(w, id, method, 0);
    end_envelope(w);
}
