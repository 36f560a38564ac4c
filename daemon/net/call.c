/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/call.h"

#include <assert.h>

#include "daemon/base/seam.h"
#include "daemon/job/jobs.h"
#include "daemon/net/client.h"
#include "daemon/net/hold.h"
#include "daemon/net/refusal.h"
#include "proto/wire/fdpass.h"
#include "proto/wire/rpc.h"

void call_close_fds(struct call *call)
{
    for (size_t i = 0; i < call->fd_count; i++) {
        if (seam.seals(call->fds[i]) >= 0)
            seam.close(call->fds[i]);
        else
            client_close_fds(call->client, &call->fds[i], 1);
    }
    call->fd_count = 0;
}

void call_discard_fds(struct call *call)
{
    client_close_fds(call->client, call->fds, call->fd_count);
    call->fd_count = 0;
}

const struct ended *call_refuse(struct call *call)
{
    call_discard_fds(call);
    return answer_fault(&call->answer, &call->request->fault);
}

void call_complain_fds(struct call *call)
{
    fault_set(&call->request->fault, FAULT_INVALID_REQUEST, "/fds",
              "fds: this method takes no descriptors");
}

const struct ended *call_refuse_fds(struct call *call)
{
    call_complain_fds(call);
    return call_refuse(call);
}

const struct ended *call_refuse_any(struct call *call)
{
    static const char *const none[] = {NULL};
    const struct json *params = &call->request->params;

    if (call->fd_count)
        return call_refuse_fds(call);
    return json_present(params) && json_object(params, none) < 0 ? call_refuse(call) : NULL;
}

const struct ended *call_refuse_user(struct call *call)
{
    if (client_is_master(call->client))
        return NULL;
    fault_set(&call->request->fault, FAULT_FORBIDDEN, NULL,
              "only root and the user that the service runs as may do that");
    return call_refuse(call);
}

/* Handling requests. */

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
              "method: this service does not have it");
    return refuse(call);
}

static handler *const handlers[RPC_METHOD_COUNT] = {
    [RPC_JOB_SUBMIT] = job_submit_call,
    [RPC_JOB_PREPARE] = job_prepare_call,
    [RPC_JOB_START] = job_start_call,
    [RPC_JOB_RELEASE] = job_release_call,
    [RPC_JOB_WAIT] = job_wait_call,
    [RPC_JOB_STATUS] = job_status_call,
    [RPC_JOB_LIST] = job_list_call,
    [RPC_JOB_CANCEL] = job_cancel_call,
    [RPC_BUFFER_REGISTER] = buffer_register_call,
    [RPC_BUFFER_ALLOC] = buffer_alloc_call,
    [RPC_BUFFER_RELEASE] = buffer_release_call,
    [RPC_BUFFER_LIST] = buffer_list_call,
    [RPC_EVENTS_SUBSCRIBE] = events_subscribe_call,
    [RPC_DAEMON_PING] = daemon_ping_call,
    [RPC_DAEMON_INFO] = daemon_info_call,
    [RPC_DAEMON_STATS] = daemon_stats_call,
    [RPC_DAEMON_DRAIN] = daemon_drain_call,
    [RPC_DAEMON_RESUME] = daemon_resume_call,
};

static void run(struct call *call)
{
    handler *handle = handlers[call->request->method];
    const struct ended *ended = handle ? handle(call) : refuse_method(call);

    assert(ended && !call->answer.due && call->fd_count == 0);
    (void)ended;
}

static enum hold hold_for_reply(struct client *client, const struct rpc_request *request)
{
    switch (request->method) {
    case RPC_JOB_SUBMIT:
    case RPC_JOB_START:
    case RPC_JOB_WAIT:
        return backlog_has_room_for_jobs(client) ? HOLD_NONE : HOLD_REPLIES;
    case RPC_BUFFER_ALLOC:
        if (!client_has_room_for_fd(client))
            client_flush(client); /* replies of this round have not been sent yet */
        return client_has_room_for_fd(client) ? HOLD_NONE : HOLD_DESCRIPTORS;
    default:
        return HOLD_NONE;
    }
}

/* Returns why the request, and all lines after it, must wait. */
static enum hold must_wait(struct client *client, const struct rpc_request *request)
{
    const bool makes_job = request->method == RPC_JOB_SUBMIT || request->method == RPC_JOB_START;

    if (makes_job && !jobs_have_room(client->net->jobs, client->session.flow))
        return HOLD_JOBS;
    if (!backlog_has_room(client))
        return HOLD_UNREAD;
    return hold_for_reply(client, request);
}

void call_handle(struct client *client, const char *line, size_t length)
{
    struct rpc_request request;
    struct call call = {.client = client, .request = &request};
    int bad = rpc_request_parse(line, length, &request);
    enum hold hold = bad ? HOLD_NONE : must_wait(client, &request);

    if (hold != HOLD_NONE) {
        rpc_request_finish(&request);
        frame_unread(&client->in, line);
        client_hold(client, hold);
        return;
    }
    answer_init(&call.answer, client, &request.id);
    if (request.fds > PROTO_FDS_MAX) {
        /* The service cannot know which descriptors belong to this line. */
        refuse(&call);
        client_end(client);
    } else if (frame_take_fds(&client->in, request.fds, call.fds) < 0) {
        fault_set(&request.fault, FAULT_STREAM_ERROR, "/fds",
                  "fds: %u announced, but %zu came with the line", request.fds,
                  client->in.fd_count);
        refuse(&call);
        client_end(client);
    } else {
        call.fd_count = request.fds;
        if (bad) {
            call_discard_fds(&call);
            refusal_remember(client, &request);
            refuse(&call);
        } else {
            run(&call);
        }
    }
    rpc_request_finish(&request);
}
