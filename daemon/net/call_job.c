/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/call_job.h"

#include <stdlib.h>

#include "daemon/job/complete.h"
#include "daemon/job/dispatch.h"
#include "daemon/job/job_list.h"
#include "daemon/job/refs.h"
#include "daemon/job/task.h"
#include "daemon/job/wait.h"
#include "daemon/net/call.h"
#include "daemon/net/client.h"
#include "daemon/service_state.h"
#include "proto/wire/job_calls.h"
#include "proto/wire/rpc.h"

/* The params' only member "job". Null, with the request's fault, where there is none. */
static struct entry *find(struct call *call)
{
    struct rpc_request *request = call->request;
    struct entry *entry;
    struct job_ref ref;

    if (job_ref_params_read(&request->params, &ref) < 0)
        return NULL;
    entry = refs_find(call->client, &ref, &(struct ref_place){"job", -1}, &request->fault);
    job_ref_finish(&ref);
    return entry;
}

const struct ended *job_status_call(struct call *call)
{
    const struct entry *entry;
    struct job_info info;
    struct jsonw *w;

    if (call->fd_count)
        return call_refuse_fds(call);
    entry = find(call);
    if (!entry)
        return call_refuse(call);
    entry_info(entry, &info);
    w = answer_begin(&call->answer, 0);
    if (w)
        job_info_write_members(w, &info);
    return answer_end(&call->answer, w);
}

/* A running one is answered, and gone, when its transfer has stopped. */
static void cancel(struct task *task)
{
    struct fault fault;

    if (task->state == JOB_STATE_RUNNING) {
        complete_cancel(task);
        return;
    }
    fault_set(&fault, FAULT_CANCELLED, NULL, "the job was cancelled");
    task_abort(task, &fault);
}

const struct ended *job_cancel_call(struct call *call)
{
    struct service *service = call->client->service;
    struct job_brief brief;
    struct entry *entry;
    struct jsonw *w;

    if (call->fd_count)
        return call_refuse_fds(call);
    entry = find(call);
    if (!entry)
        return call_refuse(call);
    brief = (struct job_brief){.job = entry->number, .state = entry_state(entry)};
    if (!entry->ended) {
        if (brief.state != JOB_STATE_RUNNING)
            brief.state = JOB_STATE_CANCELLED;
        cancel(entry_task(entry));
        dispatch_run(service);
    }
    w = answer_begin(&call->answer, 0);
    if (w)
        job_brief_write_members(w, &brief);
    return answer_end(&call->answer, w);
}

const struct ended *job_list_call(struct call *call)
{
    struct rpc_request *request = call->request;
    const struct ended *ended;
    struct job_list_query query;

    if (call->fd_count)
        return call_refuse_fds(call);
    if (job_list_query_read(&request->params, &query) < 0)
        return call_refuse(call);
    ended = listing_answer(call, &query);
    job_list_query_finish(&query);
    return ended;
}

const struct ended *job_wait_call(struct call *call)
{
    const struct ended *ended;
    struct job_wait params;

    if (call->fd_count)
        return call_refuse_fds(call);
    if (job_wait_read(&call->request->params, &params) < 0)
        return call_refuse(call);
    ended = wait_begin(call, &params);
    job_wait_finish(&params);
    return ended;
}
