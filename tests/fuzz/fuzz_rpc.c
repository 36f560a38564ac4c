/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream as a service or a client gets it: frames, requests, replies. What is accepted reads the
 * same after it was written again; every fault can be answered, and the answer says the same.
 */
#include "frame.h"
#include "fuzz.h"
#include "rpc.h"

static void check_error_reply(const struct rpc_request *request)
{
    struct rpc_reply reply;
    struct jsonw w;

    fuzz_check_fault(&request->fault);
    jsonw_init(&w);
    rpc_write_error(&w, &request->id, &request->fault);
    FUZZ_ASSERT(jsonw_text(&w));
    FUZZ_ASSERT(w.length <= PROTO_REPLY_MAX && w.data[w.length - 1] == '\n');
    FUZZ_ASSERT(rpc_reply_parse(w.data, w.length - 1, &reply) == 0);
    FUZZ_ASSERT(!reply.ok && reply.error.code == request->fault.code);
    FUZZ_ASSERT(strcmp(reply.error.text, request->fault.text) == 0);
    FUZZ_ASSERT(reply.error.has_pointer == request->fault.has_pointer);
    FUZZ_ASSERT(strcmp(reply.error.pointer, request->fault.pointer) == 0);
    FUZZ_ASSERT(reply.id.kind == request->id.kind && reply.id.number == request->id.number);
    FUZZ_ASSERT(strcmp(reply.id.text, request->id.text) == 0);
    rpc_reply_finish(&reply);
    jsonw_finish(&w);
}

static void check_job(const struct job *job, uint32_t fds)
{
    struct rpc_request request;
    struct jsonw first, second;
    struct job again;

    FUZZ_ASSERT(job->src.fd < fds && job->dst.fd < fds);
    FUZZ_ASSERT(job->src.desc.has_type && job->src.desc.rank >= 1);
    jsonw_init(&first);
    jsonw_init(&second);
    rpc_write_submit(&first, 1, fds, job);
    FUZZ_ASSERT(jsonw_text(&first));
    if (first.length <= PROTO_LINE_MAX) {
        FUZZ_ASSERT(rpc_request_parse(first.data, first.length - 1, &request) == 0);
        FUZZ_ASSERT(request.fds == fds && request.method == RPC_JOB_SUBMIT);
        FUZZ_ASSERT(job_wire_read(&request.params, fds, &again) == 0);
        rpc_write_submit(&second, 1, fds, &again);
        fuzz_check_same(&first, &second);
        job_finish(&again);
        rpc_request_finish(&request);
    }
    jsonw_finish(&first);
    jsonw_finish(&second);
}

static void check_request(const char *line, size_t length)
{
    struct rpc_request request;
    struct job job;

    if (rpc_request_parse(line, length, &request) < 0) {
        FUZZ_ASSERT(request.fds <= PROTO_FDS_MAX || request.fds == UINT32_MAX);
        check_error_reply(&request);
    } else {
        FUZZ_ASSERT(request.fds <= PROTO_FDS_MAX);
        FUZZ_ASSERT(request.id.kind != RPC_ID_NULL && request.method != RPC_NO_METHOD);
        if (request.method == RPC_JOB_SUBMIT) {
            if (job_wire_read(&request.params, request.fds, &job) < 0) {
                check_error_reply(&request);
            } else {
                check_job(&job, request.fds);
                job_finish(&job);
            }
        }
    }
    rpc_request_finish(&request);
}

static void check_result(struct rpc_reply *reply)
{
    struct rpc_reply again;
    struct job_result result;
    struct daemon_info info;
    struct jsonw first, second;

    jsonw_init(&first);
    jsonw_init(&second);
    if (job_result_read(&reply->result, &result) == 0) {
        rpc_write_job_result(&first, &reply->id, &result);
        job_result_finish(&result);
        FUZZ_ASSERT(jsonw_text(&first));
        FUZZ_ASSERT(rpc_reply_parse(first.data, first.length - 1, &again) == 0);
        FUZZ_ASSERT(job_result_read(&again.result, &result) == 0);
        rpc_write_job_result(&second, &again.id, &result);
        job_result_finish(&result);
        rpc_reply_finish(&again);
        fuzz_check_same(&first, &second);
    } else if (daemon_info_read(&reply->result, &info) == 0) {
        rpc_write_info(&first, &reply->id, &info);
        FUZZ_ASSERT(jsonw_text(&first));
        FUZZ_ASSERT(rpc_reply_parse(first.data, first.length - 1, &again) == 0);
        FUZZ_ASSERT(daemon_info_read(&again.result, &info) == 0);
        rpc_write_info(&second, &again.id, &info);
        rpc_reply_finish(&again);
        fuzz_check_same(&first, &second);
    }
    jsonw_finish(&first);
    jsonw_finish(&second);
}

static void check_reply(const char *line, size_t length)
{
    struct rpc_reply reply;

    if (rpc_reply_parse(line, length, &reply) < 0)
        fuzz_check_fault(&reply.fault);
    else if (reply.ok)
        check_result(&reply);
    rpc_reply_finish(&reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { LINE_MAX = 4096, LINES_MAX = 16 /* thousands of empty ones only take time */ };
    /* The first byte cuts the rest into receives. */
    size_t piece = size > 0 ? 1 + data[0] : 0, lines = 0, room, length;
    struct frame frame;
    const char *line;

    FUZZ_ASSERT(frame_init(&frame, LINE_MAX) == 0);
    for (size_t at = 1; at < size && lines < LINES_MAX;) {
        char *into = frame_room(&frame, &room);
        size_t bytes = piece < size - at ? piece : size - at;

        if (!into) /* a line too long */
            break;
        bytes = bytes < room ? bytes : room;
        memcpy(into, data + at, bytes);
        frame_commit(&frame, bytes);
        at += bytes;
        while (frame_next(&frame, &line, &length)) {
            FUZZ_ASSERT(length < LINE_MAX && !memchr(line, '\n', length));
            lines++;
            check_request(line, length);
            check_reply(line, length);
        }
        FUZZ_ASSERT(!frame_leftover(&frame));
    }
    frame_finish(&frame);
    return 0;
}
