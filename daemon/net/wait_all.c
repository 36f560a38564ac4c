/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job.wait with `all`: answers when all unfinished jobs of the connection have ended. This method
 * watches the connection's flow, not each job, and writes its reply in slices of the loop's time,
 * so that no call takes longer with more jobs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "daemon/base/seam.h"
#include "daemon/job/history.h"
#include "daemon/job/jobs.h"
#include "daemon/job/task.h"
#include "daemon/net/call.h"
#include "daemon/net/client.h"
#include "daemon/net/net.h"
#include "daemon/net/pending.h"
#include "proto/wire/job_calls.h"
#include "proto/wire/rpc.h"

enum { BRIEF_MAX = 64 }; /* bytes of a job in the reply, at most */

struct wait {
    struct pending pending; /* first */
    struct watch watch;     /* watch of the connection's flow */
    struct jobs *jobs;
    uint32_t timeout_ms;
    uv_timer_t timer;   /* open if the request has a timeout */
    uint64_t last;      /* number of the latest job to wait for */
    uint64_t bad;       /* number of the first job that failed or was cancelled; 0: no such job */
    struct fault fault; /* fault of the job `bad` */
    struct chore chore; /* writes the reply */
    struct jsonw w;     /* text of the reply */
    uint32_t written;   /* number of jobs that the reply has */
    uint32_t count;     /* number of jobs to wait for */
    uint32_t ended;     /* number of these jobs that have ended */
    uint64_t numbers[]; /* numbers of the jobs that have ended, in order */
};

static void on_closed(uv_handle_t *timer)
{
    free(timer->data);
}

/* Stops waiting, and frees the wait. */
static void destroy(struct wait *wait)
{
    link_remove(&wait->watch.link);
    chore_remove(&wait->chore);
    jsonw_finish(&wait->w);
    if (wait->timer.data)
        uv_close((uv_handle_t *)&wait->timer, on_closed);
    else
        free(wait);
}

static void drop(struct pending *pending)
{
    destroy((struct wait *)(void *)pending /* first member of struct wait */);
}

/* Removes and frees the wait, which was answered. */
static void finish(struct wait *wait)
{
    pending_remove(&wait->pending);
    destroy(wait);
}

/* Marks the job's record as delivered. */
static void note_delivered(const struct wait *wait, uint64_t job)
{
    struct entry *entry = registry_find(&wait->jobs->registry, job);

    if (entry && entry->ended)
        history_delivered((struct record *)(void *)entry /* first member of struct record */);
}

static void write_next(struct wait *wait)
{
    const struct job_brief brief = {
        .job = wait->numbers[wait->written++],
        .state = JOB_STATE_DONE,
    };

    note_delivered(wait, brief.job);
    jsonw_object_begin(&wait->w, NULL);
    job_brief_write_members(&wait->w, &brief);
    jsonw_object_end(&wait->w);
}

static void on_chore(struct chore *chore)
{
    struct wait *wait = LINK_OWNER(chore, struct wait, chore);
    const uint64_t begin = uv_hrtime();

    while (wait->written < wait->count) {
        write_next(wait);
        if (uv_hrtime() - begin < CHORE_SLICE_NS)
            continue;
        chore_add(wait->jobs->chores, chore);
        return;
    }
    jsonw_array_end(&wait->w);
    rpc_result_end(&wait->w);
    answer_text(&wait->pending.answer, &wait->w);
    finish(wait);
}

/* Called when all jobs have ended: answers, in later rounds of the loop if all jobs are done. */
static void answer(struct wait *wait)
{
    link_remove(&wait->watch.link);
    if (wait->timer.data)
        uv_timer_stop(&wait->timer);
    if (wait->bad) {
        note_delivered(wait, wait->bad);
        answer_job_fault(&wait->pending.answer, &wait->fault, wait->bad);
        finish(wait);
        return;
    }
    rpc_result_begin(&wait->w, &wait->pending.answer.id, 0);
    jsonw_array_begin(&wait->w, "jobs");
    chore_add(wait->jobs->chores, &wait->chore);
}

/* Inserts the number of a job. Most jobs end in the order of their numbers. */
static void insert(struct wait *wait, uint64_t job)
{
    uint32_t at = wait->ended, later;

    while (at > 0 && wait->numbers[at - 1] > job)
        at--;
    later = wait->ended++ - at;
    memmove(&wait->numbers[at + 1], &wait->numbers[at], later * sizeof *wait->numbers);
    wait->numbers[at] = job;
}

static void on_ended(struct watch *watch, const struct ending *ending)
{
    struct wait *wait = LINK_OWNER(watch, struct wait, watch);
    const uint64_t job = ending->task->entry.number;

    if (job > wait->last)
        return;
    insert(wait, job);
    if (ending->fault && (wait->bad == 0 || job < wait->bad)) {
        wait->bad = job;
        wait->fault = *ending->fault;
    }
    if (wait->ended == wait->count)
        answer(wait);
}

static void on_timer(uv_timer_t *timer)
{
    struct wait *wait = timer->data;
    struct fault fault;

    fault_set(&fault, FAULT_TIMED_OUT, "/timeout_ms",
              "timeout_ms: %" PRIu32 " of %" PRIu32 " jobs have not ended after %" PRIu32 " ms",
              wait->count - wait->ended, wait->count, wait->timeout_ms);
    answer_fault(&wait->pending.answer, &fault);
    finish(wait);
}

static void start_timer(struct wait *wait)
{
    uv_loop_t *loop = wait->jobs->loop;

    uv_timer_init(loop, &wait->timer); /* cannot fail */
    wait->timer.data = wait;
    uv_update_time(loop); /* the timer counts from the loop's time, which may be old */
    uv_timer_start(&wait->timer, on_timer, wait->timeout_ms, 0);
}

static const struct ended *answer_empty(struct call *call)
{
    struct jsonw *w = answer_begin(&call->answer, 0);

    if (w) {
        jsonw_array_begin(w, "jobs");
        jsonw_array_end(w);
    }
    return answer_end(&call->answer, w);
}

const struct ended *wait_all(struct call *call, uint32_t timeout_ms)
{
    struct flow *flow = call->client->session.flow;
    struct wait *wait;

    if (flow->unfinished == 0)
        return answer_empty(call);
    if (pending_check(call) < 0)
        return call_refuse(call);
    wait = seam.calloc(1, sizeof *wait + flow->unfinished * sizeof *wait->numbers);
    if (!wait) {
        fault_set(&call->request->fault, FAULT_INTERNAL, NULL, "no memory to wait");
        return call_refuse(call);
    }
    wait->jobs = call->client->net->jobs;
    wait->timeout_ms = timeout_ms;
    wait->last = wait->jobs->last_job;
    wait->count = flow->unfinished;
    wait->pending.expected = (uint64_t)wait->count * BRIEF_MAX;
    wait->watch.ended = on_ended;
    link_init(&wait->watch.link);
    link_append(&flow->watches, &wait->watch.link);
    chore_init(&wait->chore, on_chore);
    jsonw_init(&wait->w);
    if (timeout_ms > 0)
        start_timer(wait);
    return pending_add(&wait->pending, call, drop);
}
