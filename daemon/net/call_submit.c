/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/call_submit.h"

#include "daemon/job/admit.h"
#include "daemon/job/dispatch.h"
#include "daemon/job/task.h"
#include "daemon/net/call.h"
#include "daemon/net/client.h"
#include "daemon/net/refusal.h"
#include "daemon/service_state.h"
#include "proto/wire/rpc.h"

const struct ended *call_refuse_job(struct call *call)
{
    call->client->service->totals.refused++;
    refusal_log(call->client, "job refused", &call->request->fault);
    refusal_remember(call->client, call->request);
    return call_refuse(call);
}

const struct ended *call_accept_job(struct call *call, struct task *task)
{
    const struct ended *ended;

    admit_accept(task);
    if (task->detached) {
        ended = answer_accepted(&call->answer, task->entry.number, task->state);
        task_orphan(task);
    } else {
        ended = answer_defer(&call->answer, &task->answer);
        task->reply_bytes = task_reply_max(task);
        backlog_expect(call->client, task->reply_bytes);
    }
    dispatch_run(call->client->service);
    return ended;
}

const struct ended *job_submit_call(struct call *call)
{
    /* Complaints about the job go to params.fault, which is request->fault. */
    struct task *task = admit(call->client, &call->request->params, call->fds, call->fd_count);

    if (!task)
        return call_refuse_job(call);
    call_close_fds(call);
    return call_accept_job(call, task);
}
