/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/task.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/seam.h"
#include "daemon/job/after.h"
#include "daemon/job/completions.h"
#include "daemon/job/deadline.h"
#include "daemon/job/jobs.h"
#include "mli_mov_api.h"

struct task *task_create(struct session *session)
{
    struct jobs *jobs = session->jobs;
    struct task *task;

    if (deadlines_reserve(&jobs->deadlines, jobs->count + 1) < 0)
        return NULL;
    task = seam.calloc(1, jobs->callbacks.task_size);
    if (!task)
        return NULL;
    task->jobs = jobs;
    task->session = session;
    task->flow = session->flow;
    task->state = JOB_STATE_WAITING;
    task->admitted = jobs->clock = uv_hrtime();
    task->first_channel = -1;
    queued_init(&task->queued);
    link_init(&task->flow_link);
    link_init(&task->place);
    link_init(&task->watches);
    link_append(&jobs->tasks, &task->all_link);
    link_append(&session->tasks, &task->session_link);
    session->task_count++;
    flow_hold(task->flow);
    task->flow->jobs++;
    task->flow->user->jobs++;
    task->flow->user->holders++;
    jobs->count++;
    return task;
}

/* Returns the counter of tasks in the state of this task, or NULL if the task is not counted. */
static uint32_t *counter(const struct task *task)
{
    struct job_counts *counts = &task->jobs->counts;

    if (task->entry.number == 0 || task->ended)
        return NULL;
    switch (task->state) {
    case JOB_STATE_WAITING:
        return &counts->waiting;
    case JOB_STATE_QUEUED:
        return &counts->queued[task->priority + 1];
    case JOB_STATE_RUNNING:
        return &counts->running;
    default:
        return NULL;
    }
}

static void uncount(const struct task *task)
{
    uint32_t *count = counter(task);

    if (count)
        --*count;
}

static void count_in(const struct task *task)
{
    uint32_t *count = counter(task);

    if (count)
        ++*count;
}

void task_become(struct task *task, enum job_state state)
{
    uncount(task);
    task->state = state;
    count_in(task);
}

void task_accept(struct task *task)
{
    struct jobs *jobs = task->jobs;

    task->entry.number = ++jobs->last_job;
    task->entry.user = task->flow->user;
    task->entry.client = task->flow->number;
    task->entry.name = task->work->job.common.name;
    registry_add(&jobs->registry, &task->entry);
    link_append(&task->flow->tasks, &task->flow_link);
    task->flow->unfinished++;
    count_in(task);
    jobs->totals.submitted++;
}

void task_set_timeout(struct task *task, uint32_t timeout_ms)
{
    task->timeout_ms = timeout_ms;
    if (timeout_ms > 0)
        task->deadline = task->admitted + (uint64_t)timeout_ms * 1000 * 1000;
}

void task_leave_session(struct task *task)
{
    if (!task->session)
        return;
    link_remove(&task->session_link);
    task->session->task_count--;
    task->session = NULL;
}

static void leave_flow(struct task *task)
{
    if (link_empty(&task->flow_link))
        return;
    link_remove(&task->flow_link);
    task->flow->unfinished--;
}

/* Removes the task from every queue and list that it waits in. */
static void leave_places(struct task *task)
{
    scheduler_remove(&task->jobs->scheduler, &task->queued);
    if (task->state != JOB_STATE_RUNNING)
        link_remove(&task->place);
    deadline_remove(&task->jobs->deadlines, task);
    after_forget(task);
}

void task_destroy(struct task *task)
{
    struct session *session;
    struct jobs *jobs;

    if (!task)
        return;
    assert(task->state != JOB_STATE_RUNNING && link_empty(&task->watches) && !task->dependents);
    jobs = task->jobs;
    session = task->session;
    leave_places(task);
    registry_remove(&jobs->registry, &task->entry);
    task_leave_session(task);
    places_finish(&task->places, PLACES_OF_JOB);
    work_drop(task->work);
    link_remove(&task->all_link);
    leave_flow(task);
    task->flow->jobs--;
    task->flow->user->jobs--;
    user_drop(task->flow->user);
    flow_drop(task->flow);
    free(task);

    jobs->count--;
    jobs->callbacks.gone(jobs->callbacks.context, session);
}

static void log_task(struct log_line *line, const struct task *task)
{
    flow_log(task->flow, line);
    log_uint(line, "id", task->entry.number);
    if (task->work && task->work->job.common.name)
        log_text(line, "job", task->work->job.common.name);
}

uint64_t task_bytes_done(const struct task *task)
{
    mli_mov_status_t status;

    if (task->state != JOB_STATE_RUNNING ||
        mli_mov_get_status(&task->handle, &status) != MLI_STATUS_OK)
        return 0;
    return status.bytes;
}

static void log_end_of(const struct task *task, const struct fault *fault)
{
    struct log_rate *rate = &task->flow->user->log_rates[LOG_KIND_FAILED];
    struct log_line line;

    if (!(fault ? log_begin_rated(&line, LOG_NOTICE, "job failed", rate)
                : log_begin(&line, LOG_DEBUG, "job done")))
        return;
    log_task(&line, task);
    if (fault) {
        log_text(&line, "error", fault_name(fault->code));
        log_text(&line, "text", fault->text);
    } else {
        log_uint(&line, "bytes", task->work->operands.bytes);
        log_uint(&line, "channels", task_channels(task));
        log_uint(&line, "ns_queued", task->end.started - task->admitted);
        log_uint(&line, "ns_moving", task->end.done - task->end.started);
    }
    log_end(&line);
}

static void count(struct task *task, enum job_state state)
{
    struct jobs *jobs = task->jobs;
    const uint64_t bytes = task->work->operands.bytes;

    if (state == JOB_STATE_CANCELLED)
        jobs->totals.cancelled++;
    else if (state == JOB_STATE_FAILED)
        jobs->totals.failed++;
    if (state != JOB_STATE_DONE)
        return;
    jobs->totals.done++;
    jobs->totals.bytes_moved += bytes;
    task->flow->jobs_done++;
    task->flow->bytes_moved += bytes;
    task->flow->user->jobs_done++;
    task->flow->user->bytes_moved += bytes;
    histogram_add(&jobs->queued, task->end.started - task->admitted);
    histogram_add(&jobs->moving, task->end.done - task->end.started);
}

/* The result borrows the arrays of the operands. */
static void result_fill(struct task *task, struct job_result *result)
{
    struct work *work = task->work;

    *result = (struct job_result){
        .job = task->entry.number,
        .has_dst = !work->prepared,
        .bytes = work->operands.bytes,
        .channels = work->job.common.channels,
        .ns_queued = task->end.started - task->admitted,
        .ns_moving = task->end.done - task->end.started,
    };
    snprintf(result->engine, sizeof result->engine, "%s", mli_mov_engine_name());
    if (result->has_dst)
        operands_result(&work->operands, &result->dst);
}

/* Adds a record with copies of name, fault and arrays; omits some of them if out of memory. */
static void remember(struct task *task, const struct ending *ending)
{
    struct registry *registry = &task->jobs->registry;
    struct record *record = record_create(&task->entry, ending->fault);

    if (!record) {
        registry_remove(registry, &task->entry);
        return;
    }
    record->state = ending->state;
    record->priority = task->priority;
    record->channels = task_channels(task);
    record->first_channel = task->first_channel;
    record->detached = record->undelivered = task->detached;
    record->bytes = task->work->operands.bytes;
    record->bytes_done = ending->bytes_done;
    record->ns_queued = task_ns_queued(task, ending->when);
    record->ns_moving = task_ns_moving(task, ending->when);
    if (ending->result) {
        record->result = *ending->result;
        record->result.dst.quant = (struct quant){.axis = -1};
        if (tensor_desc_copy(&record->result.dst, &ending->result->dst) < 0)
            record->result.has_dst = false;
    }
    registry_replace(registry, &task->entry, &record->entry);
    history_add(&task->jobs->history, record);
}

static void report(struct task *task, const struct ending *ending)
{
    events_send(task->jobs, task, EVENT_DONE, ending);
    if (task->session)
        task->jobs->callbacks.ended(task, ending);
    remember(task, ending);
    while (!link_empty(&task->watches)) {
        struct watch *watch = LINK_OWNER(task->watches.next, struct watch, link);

        link_remove(&watch->link);
        watch->ended(watch, ending);
    }
    for (struct link *l = task->flow->watches.next, *next; l != &task->flow->watches; l = next) {
        struct watch *watch = LINK_OWNER(l, struct watch, link);

        next = l->next;
        watch->ended(watch, ending);
    }
    after_ended(task, ending->state);
}

void task_end(struct task *task, const struct fault *fault)
{
    /* A running task that was given up has a transfer that has not stopped yet, so this is false.
     */
    const bool transferred = task->state != JOB_STATE_RUNNING && task->end.done;
    struct job_result result;
    struct ending ending = {.task = task, .state = JOB_STATE_DONE, .fault = fault};

    assert(!task->ended);
    uncount(task);
    leave_flow(task);
    task->ended = true;
    leave_places(task);
    ending.when = transferred ? task->end.done : uv_hrtime();
    if (fault) {
        ending.state = fault->code == FAULT_CANCELLED ? JOB_STATE_CANCELLED : JOB_STATE_FAILED;
        ending.bytes_done = transferred ? task->end.transfer.bytes : task_bytes_done(task);
    } else {
        result_fill(task, &result);
        ending.result = &result;
        ending.bytes_done = result.bytes;
    }
    log_end_of(task, fault);
    count(task, ending.state);
    report(task, &ending);
}

void task_abort(struct task *task, const struct fault *fault)
{
    /* Cancel first: the transfer should have stopped when the client reads the answer. */
    if (task->state == JOB_STATE_RUNNING)
        completions_cancel(task);
    if (!task->ended)
        task_end(task, fault);
    if (task->state != JOB_STATE_RUNNING)
        task_destroy(task);
}

void task_cancel(struct task *task)
{
    struct fault fault;

    if (task->state == JOB_STATE_RUNNING) {
        completions_cancel(task);
        return;
    }
    fault_set(&fault, FAULT_CANCELLED, NULL, "the job was cancelled");
    task_abort(task, &fault);
}
