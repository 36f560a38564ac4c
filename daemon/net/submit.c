/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that make jobs, and the replies to them when the jobs have ended: job.submit,
 * job.prepare, job.start and job.release. Also job.status and job.cancel.
 */
#include <inttypes.h>

#include "daemon/net/net.h"
#include "proto/wire/methods.h"

static struct submission *submission_of(struct task *task)
{
    return (struct submission *)(void *)task /* first member of struct submission */;
}

uint64_t submission_reply_max(const struct task *task)
{
    return task->work->prepared ? 0 : backlog_of_result(task->work->operands.quant.count);
}

void submission_ended(struct task *task, const struct ending *ending)
{
    struct submission *submission = submission_of(task);

    if (!submission->answer.due)
        return;
    if (ending->fault)
        answer_fault(&submission->answer, ending->fault);
    else
        answer_result(&submission->answer, ending->result);
}

/* Replies with the request's fault, and records the fault under the job's name. */
static const struct ended *refuse_job(struct call *call)
{
    call->client->net->jobs->totals.refused++;
    refusal_log(call->client, "job refused", &call->request->fault);
    refusal_remember(call->client, call->request);
    return call_refuse(call);
}

/* Accepts the task, starts queued tasks, and replies: now if it is detached, else at its end. */
static const struct ended *accept_job(struct call *call, struct task *task)
{
    struct submission *submission = submission_of(task);
    const struct ended *ended;
    struct jsonw *w;

    admit_accept(task);
    if (task->detached) {
        w = answer_begin(&call->answer, 0);
        if (w) {
            jsonw_uint(w, "job", task->entry.number);
            jsonw_string(w, "state", job_state_name(task->state));
        }
        ended = answer_end(&call->answer, w);
        task_leave_session(task);
    } else {
        ended = answer_defer(&call->answer, &submission->answer, submission_reply_max(task));
    }
    dispatch_run(call->client->net->jobs);
    return ended;
}

const struct ended *job_submit_call(struct call *call)
{
    /* Faults of the job go to params.fault, which is request->fault. */
    struct task *task =
        admit(&call->client->session, &call->request->params, call->fds, call->fd_count);

    if (!task)
        return refuse_job(call);
    call_close_fds(call);
    return accept_job(call, task);
}

const struct ended *job_prepare_call(struct call *call)
{
    struct prepared *prepared =
        prepared_create(&call->client->session, &call->request->params, call->fds, call->fd_count);
    struct job_prepared reply;
    struct jsonw *w;

    if (!prepared)
        return call_refuse(call);
    call_close_fds(call);
    reply = (struct job_prepared){
        .prepared = prepared->number,
        .bytes = prepared->work->operands.bytes,
    };
    operands_result(&prepared->work->operands, &reply.dst); /* reply.dst owns nothing */
    w = answer_begin(&call->answer, 0);
    if (w)
        job_prepared_write_members(w, &reply);
    return answer_end(&call->answer, w);
}

const struct ended *job_start_call(struct call *call)
{
    struct rpc_request *request = call->request;
    struct job_start start;
    struct task *task;

    if (call->fd_count) {
        call_complain_fds(call);
        return refuse_job(call);
    }
    if (job_start_read(&request->params, &start) < 0)
        return refuse_job(call);
    task = prepared_start(&call->client->session, &start, &request->fault);
    job_start_finish(&start);
    return task ? accept_job(call, task) : refuse_job(call);
}

const struct ended *job_release_call(struct call *call)
{
    struct jsonw *w;
    uint32_t number;

    if (number_param_read(&call->request->params, "prepared", &number) < 0)
        return call_refuse(call);
    if (prepared_release(&call->client->session, number) < 0) {
        fault_set(&call->request->fault, FAULT_NOT_FOUND, "/prepared",
                  "prepared: this connection has no prepared job %" PRIu32, number);
        return call_refuse(call);
    }
    w = answer_begin(&call->answer, 0);
    if (w)
        jsonw_uint(w, "prepared", number);
    return answer_end(&call->answer, w);
}

/* Requests about one job. */

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
