/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes a stream of bytes for a service or a client: frames, requests, replies. Writing and
 * reading accepted data gives identical data, and the error reply of every fault has the same
 * fault.
 */
#include "proto/wire/events.h"
#include "proto/wire/frame.h"
#include "proto/wire/inline_payload.h"
#include "proto/wire/job.h"
#include "proto/wire/methods.h"
#include "proto/wire/rpc.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/rpc_request.h"

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

static void write_submit(struct jsonw *w, uint32_t fds, const struct job *job)
{
    rpc_request_begin(w, 1, RPC_JOB_SUBMIT, fds);
    job_wire_write_members(w, job);
    rpc_request_end(w);
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
    write_submit(&first, fds, job);
    FUZZ_ASSERT(jsonw_text(&first));
    if (first.length <= PROTO_LINE_MAX) {
        FUZZ_ASSERT(rpc_request_parse(first.data, first.length - 1, &request) == 0);
        FUZZ_ASSERT(request.fds == fds && request.method == RPC_JOB_SUBMIT);
        FUZZ_ASSERT(job_wire_read(&request.params, fds, &again) == 0);
        write_submit(&second, fds, &again);
        fuzz_check_same(&first, &second);
        job_finish(&again);
        rpc_request_finish(&request);
    }
    jsonw_finish(&first);
    jsonw_finish(&second);
}

/* Reads the params of methods other than job.submit, and writes structures to `w`. */
static int read_call(const struct rpc_request *request, struct jsonw *w)
{
    const struct json *params = &request->params;
    struct job_start start;
    struct job_wait wait;
    struct job_list_query query;
    struct job_ref ref;
    struct buffer_register enlist;
    struct events_subscribe subscribe;
    struct job job;
    struct buffer_alloc alloc;
    uint32_t number;
    bool drain;
    int status = 0;

    switch (request->method) {
#define KEPT(METHOD, value, read, write, finish)                                                   \
    case RPC_##METHOD:                                                                             \
        status = read;                                                                             \
        if (status == 0) {                                                                         \
            write(w, &(value));                                                                    \
            finish(&(value));                                                                      \
        }                                                                                          \
        return status
        KEPT(JOB_START, start, job_start_read(params, &start), job_start_write, job_start_finish);
        KEPT(JOB_WAIT, wait, job_wait_read(params, &wait), job_wait_write, job_wait_finish);
        KEPT(JOB_LIST, query, job_list_query_read(params, &query), job_list_query_write,
             job_list_query_finish);
        KEPT(JOB_PREPARE, job, job_wire_read_prepare(params, request->fds, &job),
             job_wire_write_members, job_finish);
        KEPT(BUFFER_REGISTER, enlist, buffer_register_read(params, request->fds, &enlist),
             buffer_register_write, (void));
        KEPT(BUFFER_ALLOC, alloc, buffer_alloc_read(params, &alloc), buffer_alloc_write, (void));
        KEPT(EVENTS_SUBSCRIBE, subscribe, events_subscribe_read(params, &subscribe),
             events_subscribe_write, (void));
#undef KEPT
    case RPC_JOB_STATUS:
    case RPC_JOB_CANCEL:
        status = job_ref_params_read(params, &ref);
        if (status == 0)
            job_ref_finish(&ref);
        return status;
    case RPC_JOB_RELEASE:
        return number_param_read(params, "prepared", &number);
    case RPC_BUFFER_RELEASE:
        return number_param_read(params, "buffer", &number);
    case RPC_DAEMON_DRAIN:
        return daemon_drain_read(params, &drain);
    default:
        return 0;
    }
}

static void check_call(struct rpc_request *request)
{
    struct rpc_request again;
    struct jsonw first, second;

    jsonw_init(&first);
    jsonw_init(&second);
    rpc_request_begin(&first, 1, request->method, request->fds);
    if (read_call(request, &first) < 0) {
        check_error_reply(request);
    } else {
        rpc_request_end(&first);
        FUZZ_ASSERT(jsonw_text(&first));
        rpc_request_begin(&second, 1, request->method, request->fds);
        if (first.length <= PROTO_LINE_MAX) {
            FUZZ_ASSERT(rpc_request_parse(first.data, first.length - 1, &again) == 0);
            if (read_call(&again, &second) == 0) { /* skips methods whose results have no writer */
                rpc_request_end(&second);
                fuzz_check_same(&first, &second);
            }
            rpc_request_finish(&again);
        }
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
        } else {
            check_call(&request);
        }
    }
    rpc_request_finish(&request);
}

static void check_result(struct rpc_reply *reply)
{
    struct rpc_reply again;
    struct job_result result;
    struct daemon_info info;
    static struct daemon_stats stats;
    struct buffer_info buffer;
    struct job_info job;
    struct jsonw first, second;

    buffer_info_read(&reply->result, &buffer);
    job_info_read(&reply->result, &job);
    daemon_stats_read(&reply->result, &stats);
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

static void check_notification(const struct rpc_reply *reply)
{
    struct event event;
    struct hello hello;
    struct jsonw w;

    jsonw_init(&w);
    if (reply->notification == RPC_EVENT && event_read(&reply->params, &event) == 0)
        event_write_line(&w, &event);
    if (reply->notification == RPC_HELLO && hello_read(&reply->params, &hello) == 0)
        hello_write_line(&w, &hello);
    FUZZ_ASSERT(jsonw_text(&w));
    jsonw_finish(&w);
}

static void check_reply(const char *line, size_t length)
{
    struct rpc_reply reply;

    if (rpc_reply_parse(line, length, &reply) < 0)
        fuzz_check_fault(&reply.fault);
    else if (reply.notification != RPC_NOT_A_NOTIFICATION)
        check_notification(&reply);
    else if (reply.ok)
        check_result(&reply);
    rpc_reply_finish(&reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { LINE_MAX = 4096, LINES_MAX = 16 /* thousands of empty lines would only take time */ };
    /* The first byte is the number of bytes that are received at a time. */
    size_t piece = size > 0 ? 1 + data[0] : 0, lines = 0, room, length;
    struct frame frame;
    const char *line;

    FUZZ_ASSERT(frame_init(&frame, LINE_MAX) == 0);
    for (size_t at = 1; at < size && lines < LINES_MAX;) {
        char *into = frame_room(&frame, &room);
        size_t bytes = piece < size - at ? piece : size - at;

        if (!into) /* the line is too long */
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
