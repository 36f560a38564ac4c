/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: each line from a client becomes one call of a handler, or waits in client->frame. */
#include <assert.h>

#include "daemon/net/net.h"

typedef const struct ended *handler(struct call *call);

static const struct ended *refuse(struct call *call)
{
    refusal_log(call->client, "request refused", &call->request->fault);
    return answer_fault(&call->answer, &call->request->fault);
}

static const struct ended *refuse_method(struct call *call)
{
    call_discard_fds(call);
    fault_set(&call->request->fault, FAULT_METHOD_NOT_FOUND, "/method",
              "method: this service does not have this method");
    return refuse(call);
}

/* The methods. `takes_fds`: the handler accepts descriptors, or refuses them itself. */
static const struct {
    handler *handle;
    bool takes_fds;
} methods[RPC_METHOD_COUNT] = {
    [RPC_JOB_SUBMIT] = {job_submit_call, true},
    [RPC_JOB_PREPARE] = {job_prepare_call, true},
    [RPC_JOB_START] = {job_start_call, true},
    [RPC_JOB_RELEASE] = {job_release_call},
    [RPC_JOB_WAIT] = {job_wait_call},
    [RPC_JOB_STATUS] = {job_status_call},
    [RPC_JOB_LIST] = {job_list_call},
    [RPC_JOB_CANCEL] = {job_cancel_call},
    [RPC_BUFFER_REGISTER] = {buffer_register_call, true},
    [RPC_BUFFER_ALLOC] = {buffer_alloc_call},
    [RPC_BUFFER_RELEASE] = {buffer_release_call},
    [RPC_BUFFER_LIST] = {buffer_list_call},
    [RPC_EVENTS_SUBSCRIBE] = {events_subscribe_call},
    [RPC_DAEMON_PING] = {daemon_ping_call},
    [RPC_DAEMON_INFO] = {daemon_info_call},
    [RPC_DAEMON_STATS] = {daemon_stats_call},
    [RPC_DAEMON_DRAIN] = {daemon_drain_call},
    [RPC_DAEMON_RESUME] = {daemon_resume_call},
};

static const struct ended *handle(struct call *call)
{
    const enum rpc_method method = call->request->method;

    if (!methods[method].handle)
        return refuse_method(call);
    if (call->fd_count > 0 && !methods[method].takes_fds)
        return call_refuse_fds(call);
    return methods[method].handle(call);
}

static void run(struct call *call)
{
    const struct ended *ended = handle(call);

    assert(ended && !call->answer.due && call->fd_count == 0);
    (void)ended;
}

static enum client_state wait_for_reply(struct client *client, const struct rpc_request *request)
{
    switch (request->method) {
    case RPC_JOB_SUBMIT:
    case RPC_JOB_START:
    case RPC_JOB_WAIT:
        return backlog_has_room_for_jobs(client) ? CLIENT_READING : CLIENT_HELD_REPLIES;
    case RPC_BUFFER_ALLOC:
        if (!client_has_room_for_fd(client))
            client_flush(client); /* replies of this round have not been sent yet */
        return client_has_room_for_fd(client) ? CLIENT_READING : CLIENT_HELD_FDS;
    default:
        return CLIENT_READING;
    }
}

/* Returns CLIENT_READING if the request may be handled now. Otherwise returns the state that names
 * what it and all later lines must wait for. */
static enum client_state must_wait(struct client *client, const struct rpc_request *request)
{
    const bool makes_job = request->method == RPC_JOB_SUBMIT || request->method == RPC_JOB_START;

    if (makes_job && !jobs_have_room(client->net->jobs, client->session.flow))
        return CLIENT_HELD_JOBS;
    if (!backlog_has_room(client))
        return CLIENT_HELD_UNREAD;
    return wait_for_reply(client, request);
}

/* Takes the descriptors of the line from the frame. Returns 0, or -1 with the request's fault
 * filled: then it is unknown which descriptors belong to later lines. */
static int take_fds(struct call *call)
{
    struct rpc_request *request = call->request;
    struct frame *in = &call->client->in;

    if (request->fds > PROTO_FDS_MAX)
        return -1; /* rpc_request_parse() has filled the fault */
    if (frame_take_fds(in, request->fds, call->fds) < 0)
        return fault_set(&request->fault, FAULT_STREAM_ERROR, "/fds",
                         "fds: %u announced, but %zu came with the line", request->fds,
                         in->fd_count);
    call->fd_count = request->fds;
    return 0;
}

void call_handle(struct client *client, const char *line, size_t length)
{
    struct rpc_request request;
    struct call call = {.client = client, .request = &request};
    const int bad = rpc_request_parse(line, length, &request);
    const enum client_state wait = bad ? CLIENT_READING : must_wait(client, &request);

    if (wait != CLIENT_READING) {
        rpc_request_finish(&request);
        frame_unread(&client->in, line);
        client_hold(client, wait);
        return;
    }
    answer_init(&call.answer, client, &request.id);
    if (take_fds(&call) < 0) {
        refuse(&call);
        client_end(client);
    } else if (bad) {
        call_discard_fds(&call);
        refusal_remember(client, &request);
        refuse(&call);
    } else {
        run(&call);
    }
    rpc_request_finish(&request);
}
