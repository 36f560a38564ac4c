/* SPDX-License-Identifier: BSD-3-Clause */
#include "request.h"

#include <assert.h>

#include "admit.h"
#include "answer.h"
#include "client.h"
#include "dispatch.h"
#include "fdpass.h"
#include "info.h"
#include "rpc.h"
#include "state.h"
#include "task.h"

/* A request on its way through its handler. */
struct call {
    struct client *client;
    struct rpc_request *request;
    const int *fds; /* request->fds of them; closed after the handler */
    struct answer answer;
};

static const struct ended *refuse_fds(struct call *call)
{
    fault_set(&call->request->fault, FAULT_INVALID_REQUEST, "/fds",
              "fds: this method takes no descriptors");
    return answer_fault(&call->answer, &call->request->fault);
}

static const struct ended *ping(struct call *call)
{
    return call->request->fds ? refuse_fds(call) : answer_pong(&call->answer);
}

static const struct ended *info(struct call *call)
{
    struct daemon_info numbers;

    if (call->request->fds)
        return refuse_fds(call);
    info_fill(&numbers, call->client->service);
    return answer_info(&call->answer, &numbers);
}

static const struct ended *submit(struct call *call)
{
    struct service *service = call->client->service;
    struct rpc_request *request = call->request;
    const struct ended *ended;
    struct task *task;

    /* Complaints about the job go to params.fault, which is request->fault. */
    task = admit(call->client, &request->params, call->fds, request->fds);
    if (!task) {
        service->jobs_failed++;
        return answer_fault(&call->answer, &request->fault);
    }
    ended = answer_defer(&call->answer, &task->answer);
    task->state = TASK_QUEUED;
    queue_push(&service->queue, task);
    deadline_add(&service->deadlines, task);
    dispatch_run(service);
    return ended;
}

typedef const struct ended *handler(struct call *call);

static handler *const handlers[] = {
    [RPC_NO_METHOD] = NULL,
    [RPC_JOB_SUBMIT] = submit,
    [RPC_DAEMON_PING] = ping,
    [RPC_DAEMON_INFO] = info,
};

static const struct ended *run(struct call *call)
{
    handler *handle = handlers[call->request->method];
    const struct ended *ended = handle(call);

    assert(ended && !call->answer.due);
    return ended;
}

void request_handle(struct client *client, const char *line, size_t length)
{
    struct rpc_request request;
    int fds[PROTO_FDS_MAX];
    struct call call = {.client = client, .request = &request, .fds = fds};
    int bad = rpc_request_parse(line, length, &request);

    answer_init(&call.answer, client, &request.id);
    if (request.fds > PROTO_FDS_MAX) {
        /* Whose the waiting descriptors are cannot be told. */
        answer_fault(&call.answer, &request.fault);
        client_end(client);
    } else if (frame_take_fds(&client->in, request.fds, fds) < 0) {
        fault_set(&request.fault, FAULT_STREAM_ERROR, "/fds",
                  "fds: %u announced, %zu came with the line", request.fds, client->in.fd_count);
        answer_fault(&call.answer, &request.fault);
        client_end(client);
    } else {
        if (bad)
            answer_fault(&call.answer, &request.fault);
        else
            run(&call);
        fd_close_all(fds, request.fds);
    }
    rpc_request_finish(&request);
}
