/* SPDX-License-Identifier: BSD-3-Clause */
/* job.wait: answers when all of the given jobs have ended. wait_all.c handles `all`. */
#include <inttypes.h>
#include <stdlib.h>
#include <uv.h>

#include "daemon/base/seam.h"
#include "daemon/job/history.h"
#include "daemon/job/jobs.h"
#include "daemon/job/refs.h"
#include "daemon/job/task.h"
#include "daemon/net/call.h"
#include "daemon/net/client.h"
#include "daemon/net/net.h"
#include "daemon/net/pending.h"
#include "daemon/net/submit.h"
#include "proto/wire/job_calls.h"
#include "proto/wire/rpc.h"

enum { BRIEF_MAX = 64 }; /* bytes of a job in a list, at most */

/* One job to wait for. */
struct item {
    struct watch watch; /* first */
    struct wait *wait;
    struct job_brief brief; /* data of the job; the state is set when the job has ended */
};

struct wait {
    struct pending pending; /* first */
    struct jobs *jobs;
    bool several; /* true: the reply is a list; false: it is like the reply to the job's own request
                   */
    uint32_t timeout_ms;
    uv_timer_t timer;       /* open if the request has a timeout */
    uint32_t left;          /* number of jobs that have not ended */
    const struct item *bad; /* the first job that failed or was cancelled; null: none */
    struct fault fault;     /* fault of the job `bad` */
    uint32_t count;
    struct item items[];
};

static void on_closed(uv_handle_t *timer)
{
    free(timer->data);
}

/* Stops waiting, and frees the wait. */
static void wait_destroy(struct wait *wait)
{
    for (uint32_t i = 0; i < wait->count; i++)
        link_remove(&wait->items[i].watch.link);
    if (wait->timer.data)
        uv_close((uv_handle_t *)&wait->timer, on_closed);
    else
        free(wait);
}

static void drop(struct pending *pending)
{
    wait_destroy((struct wait *)(void *)pending /* first member of struct wait */);
}

/* Removes and frees the wait, which was answered. */
static void finish(struct wait *wait)
{
    pending_remove(&wait->pending);
    wait_destroy(wait);
}

/* Marks the job's record as delivered. */
static void note_delivered(const struct wait *wait, uint64_t job)
{
    struct entry *entry = registry_find(&wait->jobs->registry, job);

    if (entry && entry->ended)
        history_delivered((struct record *)(void *)entry /* first member of struct record */);
}

static const struct ended *answer_list(struct answer *answer, const struct wait *wait)
{
    struct jsonw *w;

    if (wait->bad) {
        note_delivered(wait, wait->bad->brief.job);
        return answer_job_fault(answer, &wait->fault, wait->bad->brief.job);
    }
    for (uint32_t i = 0; i < wait->count; i++)
        note_delivered(wait, wait->items[i].brief.job);
    w = answer_begin(answer, 0);
    if (w) {
        jsonw_array_begin(w, "jobs");
        for (uint32_t i = 0; i < wait->count; i++) {
            jsonw_object_begin(w, NULL);
            job_brief_write_members(w, &wait->items[i].brief);
            jsonw_object_end(w);
        }
        jsonw_array_end(w);
    }
    return answer_end(answer, w);
}

static const struct ended *answer_one(struct answer *answer, const struct wait *wait,
                                      const struct job_result *result, const struct fault *fault)
{
    note_delivered(wait, wait->items[0].brief.job);
    return fault ? answer_fault(answer, fault) : answer_result(answer, result);
}

/* Notes the end of a job. `fault` is null if the job is done. */
static void note(struct wait *wait, struct item *item, enum job_state state,
                 const struct fault *fault)
{
    item->brief.state = state;
    if (!fault || (wait->bad && wait->bad < item))
        return;
    wait->bad = item;
    wait->fault = *fault;
}

static void on_ended(struct watch *watch, const struct ending *ending)
{
    struct item *item = (struct item *)(void *)watch /* first member of struct item */;
    struct wait *wait = item->wait;

    note(wait, item, ending->state, ending->fault);
    if (--wait->left > 0)
        return;
    if (wait->several)
        answer_list(&wait->pending.answer, wait);
    else
        answer_one(&wait->pending.answer, wait, ending->result, ending->fault);
    finish(wait);
}

static void on_timer(uv_timer_t *timer)
{
    struct wait *wait = timer->data;
    const struct entry *entry = registry_find(&wait->jobs->registry, wait->items[0].brief.job);
    struct fault fault;

    if (wait->several || !entry)
        fault_set(&fault, FAULT_TIMED_OUT, "/timeout_ms",
                  "timeout_ms: %" PRIu32 " of %" PRIu32 " jobs have not ended after %" PRIu32 " ms",
                  wait->left, wait->count, wait->timeout_ms);
    else
        fault_set(&fault, FAULT_TIMED_OUT, "/timeout_ms",
                  "timeout_ms: job %" PRIu64 " is still %s after %" PRIu32 " ms", entry->number,
                  job_state_name(entry_state(entry)), wait->timeout_ms);
    answer_fault(&wait->pending.answer, &fault);
    finish(wait);
}

/* Returns why a job failed or was cancelled, or NULL if it is done. */
static const struct fault *fault_of(const struct record *record, struct fault *storage)
{
    if (record->state == JOB_STATE_DONE || record->fault)
        return record->fault;
    if (record->state == JOB_STATE_CANCELLED)
        fault_set(storage, FAULT_CANCELLED, NULL, "the job was cancelled");
    else
        fault_set(storage, FAULT_INTERNAL, NULL,
                  "the job failed, and there was no memory to keep the reason");
    return storage;
}

static void add(struct wait *wait, const struct entry *entry)
{
    struct item *item = &wait->items[wait->count++];
    struct fault fault;

    link_init(&item->watch.link);
    item->watch.ended = on_ended;
    item->wait = wait;
    item->brief.job = entry->number;
    if (entry->ended) {
        const struct record *record = entry_record(entry);

        note(wait, item, record->state, fault_of(record, &fault));
    } else {
        link_append(&entry_task(entry)->watches, &item->watch.link);
        wait->pending.expected +=
            wait->several ? BRIEF_MAX : submission_reply_max(entry_task(entry));
        wait->left++;
    }
}

/* Adds the jobs that the request names to `wait`. Returns 0, or -1 with *fault filled. */
static int add_named(struct wait *wait, const struct client *client, const struct job_wait *params,
                     struct fault *fault)
{
    for (uint32_t i = 0; i < params->jobs.count; i++) {
        const struct ref_place place = {
            .member = wait->several ? "jobs" : "job",
            .index = wait->several ? (int)i : -1,
        };
        const struct entry *entry =
            refs_find(&client->session, &params->jobs.refs[i], &place, fault);

        if (!entry)
            return -1;
        add(wait, entry);
    }
    return 0;
}

static struct wait *wait_create(struct call *call, const struct job_wait *params)
{
    const struct client *client = call->client;
    struct fault *fault = &call->request->fault;
    struct wait *wait = seam.calloc(1, sizeof *wait + params->jobs.count * sizeof *wait->items);

    if (!wait) {
        fault_set(fault, FAULT_INTERNAL, NULL, "no memory to wait");
        return NULL;
    }
    wait->jobs = client->net->jobs;
    wait->several = params->what != JOB_WAIT_ONE;
    wait->timeout_ms = params->timeout_ms;
    if (add_named(wait, client, params, fault) < 0) {
        wait_destroy(wait);
        return NULL;
    }
    return wait;
}

/* Answers at once: all jobs have ended. */
static const struct ended *answer_now(struct call *call, struct wait *wait)
{
    const struct ended *ended;

    if (wait->several) {
        ended = answer_list(&call->answer, wait);
    } else {
        const struct entry *entry = registry_find(&wait->jobs->registry, wait->items[0].brief.job);

        ended = answer_one(&call->answer, wait, &entry_record(entry)->result,
                           wait->bad ? &wait->fault : NULL);
    }
    wait_destroy(wait);
    return ended;
}

static const struct ended *wait_begin(struct call *call, const struct job_wait *params)
{
    struct wait *wait = wait_create(call, params);

    if (!wait)
        return call_refuse(call);
    if (wait->left == 0)
        return answer_now(call, wait);
    if (pending_check(call) < 0) {
        wait_destroy(wait);
        return call_refuse(call);
    }
    if (wait->timeout_ms > 0) {
        uv_loop_t *loop = wait->jobs->loop;

        uv_timer_init(loop, &wait->timer); /* cannot fail */
        wait->timer.data = wait;
        uv_update_time(loop); /* the timer counts from the loop's time, which may be old */
        uv_timer_start(&wait->timer, on_timer, wait->timeout_ms, 0);
    }
    return pending_add(&wait->pending, call, drop);
}

const struct ended *job_wait_call(struct call *call)
{
    const struct ended *ended;
    struct job_wait params;

    if (call->fd_count)
        return call_refuse_fds(call);
    if (job_wait_read(&call->request->params, &params) < 0)
        return call_refuse(call);
    if (params.what == JOB_WAIT_ALL)
        ended = wait_all(call, params.timeout_ms);
    else
        ended = wait_begin(call, &params);
    job_wait_finish(&params);
    return ended;
}
