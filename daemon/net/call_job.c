/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of job.status and job.cancel. */
#include "daemon/job/dispatch.h"
#include "daemon/job/jobs.h"
#include "daemon/job/refs.h"
#include "daemon/job/task.h"
#include "daemon/net/call.h"
#include "daemon/net/client.h"
#include "daemon/net/net.h"
#include "proto/wire/job_calls.h"
#include "proto/wire/rpc.h"

/* Returns the job that the params name, or NULL with the request's fault filled. */
static struct entry *find(struct call *call)
{
    struct rpc_request *request = call->request;
    struct entry *entry;
    struct job_ref ref;

    if (job_ref_params_read(&request->params, &ref) < 0)
        return NULL;
    entry =
        refs_find(&call->client->session, &ref, &(struct ref_place){"job", -1}, &request->fault);
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

const struct ended *job_cancel_call(struct call *call)
{
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
        task_cancel(entry_task(entry));
        dispatch_run(call->client->net->jobs);
    }
    w = answer_begin(&call->answer, 0);
    if (w)
        job_brief_write_members(w, &brief);
    return answer_end(&call->answer, w);
}
