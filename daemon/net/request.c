/* SPDX-License-Identifier: BSD-3-Clause */
#include "request.h"

#include <assert.h>

#include "admit.h"
#include "answer.h"
#include "client.h"
#include "dispatch.h"
#include "fdpass.h"
#include "info.h"
#include "log.h"
#include "rpc.h"
#include "state.h"
#include "task.h"

/* A request on its way through its handler. */
struct call {
    struct client *client;
    struct rpc_request *request;
    int fds[PROTO_FDS_MAX];
    size_t fd_count;
    struct answer answer;
};

/* Before the answer: who has got it may rely on it that nobody else holds his files. */
static void close_fds(struct call *call)
{
    fd_close_all(call->fds, call->fd_count);
    call->fd_count = 0;
}

static const struct ended *refuse_fds(struct call *call)
{
    close_fds(call);
    fault_set(&call->request->fault, FAULT_INVALID_REQUEST, "/fds",
              "fds: this method takes no descriptors");
    return answer_fault(&call->answer, &call->request->fault);
}

static const struct ended *ping(struct call *call)
{
    return call->fd_count ? refuse_fds(call) : answer_pong(&call->answer);
}

static const struct ended *info(struct call *call)
{
    struct daemon_info numbers;

    if (call->fd_count)
        return refuse_fds(call);
    info_fill(&numbers, call->client->service);
    return answer_info(&call->answer, &numbers);
}

static void log_refusal(const struct client *client, const struct fault *fault)
{
    struct log_line line;

    if (!log_begin(&line, LOG_NOTICE, "job refused"))
        return;
    client_log(&line, client);
    log_text(&line, "error", fault_name(fault->code));
    log_text(&line, "text", fault->text);
    log_end(&line);
}

static const struct ended *submit(struct call *call)
{
    struct service *service = call->client->service;
    struct rpc_request *request = call->request;
    const struct ended *ended;
    struct task *task;

    /* Complaints about the job go to params.fault, which is request->fault. */
    task = admit(call->client, &request->params, call->fds, call->fd_count);
    close_fds(call);
    if (!task) {
        service->totals.refused++;
        log_refusal(call->client, &request->fault);
        return answer_fault(&call->answer, &request->fault);
    }
    admit_accept(task);
    if (task->detached) {
        ended = answer_accepted(&call->answer, task->entry.number, task->state);
        task_orphan(task);
    } else {
        ended = answer_defer(&call->answer, &task->answer);
    }
    dispatch_run(service);
    return ended;
}

typedef const struct ended *handler(struct call *call);

static const struct ended *refuse_method(struct call *call)
{
    close_fds(call);
    fault_set(&call->request->fault, FAULT_METHOD_NOT_FOUND, "/method",
              "method: this service does not have it");
    return answer_fault(&call->answer, &call->request->fault);
}

static handler *const handlers[RPC_METHOD_COUNT] = {
    [RPC_JOB_SUBMIT] = submit,
    [RPC_DAEMON_PING] = ping,
    [RPC_DAEMON_INFO] = info,
};

static void run(struct call *call)
{
    handler *handle = handlers[call->request->method];
    const struct ended *ended = handle ? handle(call) : refuse_method(call);

    assert(ended && !call->answer.due && call->fd_count == 0);
    (void)ended;
}

/* A request that would make a job, while there is no room for one. */
static bool must_wait(const struct client *client, const struct rpc_request *request)
{
    const struct service *service = client->service;

    return (request->method == RPC_JOB_SUBMIT || request->method == RPC_JOB_START) &&
           service->state == SERVICE_SERVING && !service->refusing &&
           !service_has_room(service, client);
}

void request_handle(struct client *client, const char *line, size_t length)
{
    struct rpc_request request;
    struct call call = {.client = client, .request = &request};
    int bad = rpc_request_parse(line, length, &request);

    if (!bad && must_wait(client, &request)) {
        rpc_request_finish(&request);
        frame_unread(&client->in, line);
        client_hold(client);
        return;
    }
    answer_init(&call.answer, client, &request.id);
    if (request.fds > PROTO_FDS_MAX) {
        /* Whose the waiting descriptors are cannot be told. */
        answer_fault(&call.answer, &request.fault);
        client_end(client);
    } else if (frame_take_fds(&client->in, request.fds, call.fds) < 0) {
        fault_set(&request.fault, FAULT_STREAM_ERROR, "/fds",
                  "fds: %u announced, %zu came with the line", request.fds, client->in.fd_count);
        answer_fault(&call.answer, &request.fault);
        client_end(client);
    } else {
        call.fd_count = request.fds;
        if (bad) {
            close_fds(&call);
            answer_fault(&call.answer, &request.fault);
        } else {
            run(&call);
        }
    }
    rpc_request_finish(&request);
}
