/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A task, in this order: finding it by the reference in a request, its events, its deadline, the
 * jobs that wait for it ("after"), its counters, its life.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/seam.h"
#include "daemon/job/jobs.h"
#include "daemon/job/trace.h"

/* References and descriptions. */

struct task *entry_task(const struct entry *entry)
{
    /* The entry is the first member of the task. */
    return entry->ended ? NULL : (struct task *)(void *)(uintptr_t)entry;
}

const struct record *entry_record(const struct entry *entry)
{
    return entry->ended ? (const struct record *)(const void *)entry : NULL;
}

bool refs_visible(const struct user *viewer, const struct entry *entry)
{
    return viewer->uid == 0 || entry->user == viewer;
}

void ref_place_words(const struct ref_place *place, struct ref_words *words)
{
    if (place->index < 0) {
        snprintf(words->pointer, sizeof words->pointer, "/%s", place->member);
        snprintf(words->name, sizeof words->name, "%s", place->member);
    } else {
        snprintf(words->pointer, sizeof words->pointer, "/%s/%d", place->member, place->index);
        snprintf(words->name, sizeof words->name, "%s[%d]", place->member, place->index);
    }
}

struct entry *refs_find(const struct session *session, const struct job_ref *ref,
                        const struct ref_place *place, struct fault *fault)
{
    const struct registry *registry = &session->jobs->registry;
    struct ref_words words;
    struct entry *entry;

    if (ref->name)
        entry = registry_find_name(registry, session->flow->number, ref->name);
    else
        entry = registry_find(registry, ref->number);
    if (entry && refs_visible(session->flow->user, entry))
        return entry;
    ref_place_words(place, &words);
    if (ref->name)
        fault_set(fault, FAULT_NOT_FOUND, words.pointer,
                  "%s: this connection has no job \"%s\"; it may have been forgotten", words.name,
                  ref->name);
    else
        fault_set(fault, FAULT_NOT_FOUND, words.pointer,
                  "%s: there is no job %" PRIu64 "; it may have been forgotten", words.name,
                  ref->number);
    return NULL;
}

enum job_state entry_state(const struct entry *entry)
{
    return entry->ended ? entry_record(entry)->state : entry_task(entry)->state;
}

void entry_info(const struct entry *entry, struct job_info *info)
{
    if (entry->ended)
        record_info(entry_record(entry), info);
    else
        task_info(entry_task(entry), NULL, uv_hrtime(), true, info);
}

uint64_t task_bytes_done(const struct task *task)
{
    mli_mov_status_t status;

    if (task->state != JOB_STATE_RUNNING ||
        mli_mov_get_status(&task->handle, &status) != MLI_STATUS_OK)
        return 0;
    return status.bytes;
}

void task_info(const struct task *task, const struct ending *ending, uint64_t now, bool ask,
               struct job_info *info)
{
    *info = (struct job_info){
        .job = task->entry.number,
        .state = ending ? ending->state : task->state,
        .client = task->flow->number,
        .uid = task->flow->user->uid,
        .priority = task->priority,
        .channels = task_channels(task),
        .first_channel = task->first_channel,
        .bytes = task->work->operands.bytes,
        .detached = task->detached,
        .ns_queued = task_ns_queued(task, now),
        .ns_moving = task_ns_moving(task, now),
    };
    if (task->entry.name)
        snprintf(info->name, sizeof info->name, "%s", task->entry.name);
    if (ending) {
        info->bytes_done = ending->bytes_done;
        info->error = ending->fault;
    } else if (ask) {
        info->bytes_done = task_bytes_done(task);
    }
}

/* Events. */

enum { TRACED = 1 << EVENT_QUEUED | 1 << EVENT_STARTED | 1 << EVENT_DONE };

static void count_wanted(struct job_events *events)
{
    events->wanted = events->subscribed | (events->trace ? TRACED : 0);
}

void events_subscribe(struct job_events *events, uint32_t kinds)
{
    events->subscribed = kinds;
    count_wanted(events);
}

void events_set_trace(struct job_events *events, struct trace *trace)
{
    events->trace = trace;
    count_wanted(events);
}

void events_fill(struct event *event, const struct task *task, enum event_kind kind,
                 const struct ending *ending)
{
    event->kind = kind;
    event->dropped = 0;
    event->time_ns = kind == EVENT_QUEUED    ? task->admitted
                     : kind == EVENT_STARTED ? task->end.started
                     : ending                ? ending->when
                                             : uv_hrtime();
    task_info(task, ending, event->time_ns, kind == EVENT_PROGRESS, &event->job);
}

void events_spread(struct jobs *jobs, const struct task *task, enum event_kind kind,
                   const struct ending *ending)
{
    struct event event;

    events_fill(&event, task, kind, ending);
    if (jobs->events.subscribed >> kind & 1)
        jobs->callbacks.event(jobs->callbacks.context, task, &event);
    event.dropped = 0;
    trace_event(jobs->events.trace, &event);
}

/* Deadlines. */

enum { NS_PER_MS = 1000 * 1000, CAPACITY_MIN = 64 };

static void put(struct deadlines *deadlines, uint32_t at, struct task *task)
{
    deadlines->heap[at] = task;
    task->deadline_place = at + 1;
}

/* Moves a task from `at` towards the root, past all later deadlines. */
static void rise(struct deadlines *deadlines, uint32_t at, struct task *task)
{
    while (at > 0) {
        const uint32_t parent = (at - 1) / 2;

        if (deadlines->heap[parent]->deadline <= task->deadline)
            break;
        put(deadlines, at, deadlines->heap[parent]);
        at = parent;
    }
    put(deadlines, at, task);
}

/* Moves a task from `at` towards the leaves, past all earlier deadlines. */
static void sink(struct deadlines *deadlines, uint32_t at, struct task *task)
{
    struct task **heap = deadlines->heap;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child + 1 < deadlines->count && heap[child + 1]->deadline < heap[child]->deadline)
            child++;
        if (child >= deadlines->count || task->deadline <= heap[child]->deadline)
            break;
        put(deadlines, at, heap[child]);
        at = child;
    }
    put(deadlines, at, task);
}

/* Sets the timer to the first deadline. */
static void arm(struct deadlines *deadlines)
{
    const uint64_t first = deadlines->count > 0 ? deadlines->heap[0]->deadline : UINT64_MAX;
    const uint64_t now = uv_hrtime();

    deadlines->armed = first;
    if (first == UINT64_MAX) {
        uv_timer_stop(&deadlines->timer);
        return;
    }
    uv_update_time(
        deadlines->timer.loop); /* the timer counts from the loop's time, which may be old */
    uv_timer_start(&deadlines->timer, deadlines->passed,
                   first > now ? (first - now + NS_PER_MS - 1) / NS_PER_MS : 0, 0);
}

void deadlines_init(struct deadlines *deadlines, uv_loop_t *loop, uv_timer_cb passed)
{
    *deadlines = (struct deadlines){.armed = UINT64_MAX, .passed = passed};
    uv_timer_init(loop, &deadlines->timer); /* cannot fail */
    deadlines->timer.data = deadlines;
}

void deadlines_close(struct deadlines *deadlines)
{
    assert(deadlines->count == 0);
    free(deadlines->heap);
    deadlines->heap = NULL;
    deadlines->capacity = 0;
    uv_close((uv_handle_t *)&deadlines->timer, NULL);
}

int deadlines_reserve(struct deadlines *deadlines, uint32_t count)
{
    const uint32_t doubled = 2 * deadlines->capacity;
    const uint32_t capacity = doubled > CAPACITY_MIN ? doubled : CAPACITY_MIN;
    struct task **heap;

    if (count <= deadlines->capacity)
        return 0;
    heap = seam.realloc(deadlines->heap, capacity * sizeof(struct task *));
    if (!heap)
        return -1;
    deadlines->heap = heap;
    deadlines->capacity = capacity;
    return 0;
}

void deadline_add(struct deadlines *deadlines, struct task *task)
{
    if (task->deadline == 0)
        return;
    assert(deadlines->count < deadlines->capacity);
    rise(deadlines, deadlines->count++, task);
    if (task->deadline < deadlines->armed)
        arm(deadlines);
}

void deadline_remove(struct deadlines *deadlines, struct task *task)
{
    const uint32_t at = task->deadline_place - 1;
    struct task *last;

    if (task->deadline_place == 0)
        return;
    task->deadline_place = 0;
    last = deadlines->heap[--deadlines->count];
    if (last != task && at > 0 && deadlines->heap[(at - 1) / 2]->deadline > last->deadline)
        rise(deadlines, at, last);
    else if (last != task)
        sink(deadlines, at, last);
    if (deadlines->count == 0)
        arm(deadlines);
}

/* "after": jobs that start when other jobs are done. */

enum { SETTLED_MAX = 16 }; /* one call handles so many waiting jobs: others need the loop too */

struct dependency {
    struct link link; /* link in the predecessor's list of dependents */
    struct task *dependant;
    uint32_t index; /* index in the array "after" of the dependant */
};

/* The jobs that wait for one job. The list outlives the job: after_settle() empties it. */
struct dependents {
    struct link link;           /* link in jobs->settling, once the predecessor has ended */
    struct link dependencies;   /* struct dependency, in the order of arrival */
    char cause[TASK_CAUSE_MAX]; /* fault of the predecessor; empty: the predecessor succeeded */
};

/* Writes a sentence like "job 7 (load) failed". */
static void describe(const struct entry *entry, enum job_state state, char *text, size_t size)
{
    const struct record *record = entry_record(entry);
    const char *how = state == JOB_STATE_CANCELLED ? "was cancelled"
                      : record && record->refused  ? "was refused"
                                                   : "failed";

    if (entry->name)
        snprintf(text, size, "job %" PRIu64 " (%s) %s", entry->number, entry->name, how);
    else
        snprintf(text, size, "job %" PRIu64 " %s", entry->number, how);
}

static int complain(struct fault *fault, uint32_t index, const char *cause)
{
    struct ref_words words;

    ref_place_words(&(struct ref_place){"after", (int)index}, &words);
    return fault_set(fault, FAULT_PREDECESSOR_FAILED, words.pointer, "%s: %s", words.name, cause);
}

/* Returns the dependents of a task; creates the list if needed. Returns NULL if out of memory. */
static struct dependents *dependents_of(struct task *task)
{
    if (!task->dependents) {
        task->dependents = seam.calloc(1, sizeof *task->dependents);
        if (!task->dependents)
            return NULL;
        link_init(&task->dependents->link);
        link_init(&task->dependents->dependencies);
    }
    return task->dependents;
}

static int depend(struct task *task, const struct entry *entry, uint32_t index, struct fault *fault)
{
    const enum job_state state = entry_state(entry);
    struct dependents *dependents;
    struct dependency *dependency;
    char cause[TASK_CAUSE_MAX];

    if (entry->ended) {
        if (state == JOB_STATE_DONE)
            return 0;
        describe(entry, state, cause, sizeof cause);
        return complain(fault, index, cause);
    }
    dependents = dependents_of(entry_task(entry));
    if (!dependents)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for a job");
    dependency = &task->dependencies[task->dependency_count++];
    dependency->dependant = task;
    dependency->index = index;
    link_append(&dependents->dependencies, &dependency->link);
    task->waits++;
    return 0;
}

int after_init(struct task *task, const struct session *session, const struct job_refs *refs,
               struct fault *fault)
{
    if (refs->count == 0)
        return 0;
    task->dependencies = seam.calloc(refs->count, sizeof *task->dependencies);
    if (!task->dependencies)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for a job");
    for (uint32_t i = 0; i < refs->count; i++) {
        const struct ref_place place = {"after", (int)i};
        const struct entry *entry = refs_find(session, &refs->refs[i], &place, fault);

        if (!entry || depend(task, entry, i, fault) < 0)
            return -1;
    }
    return 0;
}

/* Drops all dependencies of the task. */
static void after_forget(struct task *task)
{
    for (uint32_t i = 0; i < task->dependency_count; i++)
        link_remove(&task->dependencies[i].link);
    free(task->dependencies);
    task->dependencies = NULL;
    task->dependency_count = task->waits = 0;
}

/* The task has ended in `state`: adds its dependents to jobs->settling. Takes O(1) time. */
static void after_ended(struct task *task, enum job_state state)
{
    struct dependents *dependents = task->dependents;

    if (!dependents)
        return;
    task->dependents = NULL;
    if (state != JOB_STATE_DONE)
        describe(&task->entry, state, dependents->cause, sizeof dependents->cause);
    link_append(&task->jobs->settling, &dependents->link);
}

/* The life of a task. */

/*
 * Destroyed tasks whose memory task_create() uses again. A task is larger than the blocks that
 * glibc keeps for each thread, so malloc() would merge all small free blocks, and split them again
 * for the next request. With AddressSanitizer no memory is used again, so that AddressSanitizer
 * finds uses of a destroyed task.
 */
#ifdef __SANITIZE_ADDRESS__
enum { SPARES_MAX = 0 };
#else
enum { SPARES_MAX = 64 };
#endif

/* Returns a task of zeros, or null if there is no memory. */
static struct task *take_memory(struct jobs *jobs)
{
    struct task *task = jobs->spares;

    if (!task)
        return seam.calloc(1, jobs->callbacks.task_size);
    jobs->spares = task->ended_before;
    jobs->spare_count--;
    return memset(task, 0, jobs->callbacks.task_size);
}

static void give_memory(struct jobs *jobs, struct task *task)
{
    if (jobs->spare_count == SPARES_MAX) {
        free(task);
        return;
    }
    task->ended_before = jobs->spares;
    jobs->spares = task;
    jobs->spare_count++;
}

void tasks_finish(struct jobs *jobs)
{
    while (jobs->spares) {
        struct task *task = jobs->spares;

        jobs->spares = task->ended_before;
        free(task);
    }
}

struct task *task_create(struct session *session, struct fault *fault)
{
    struct jobs *jobs = session->jobs;
    struct task *task = NULL;

    if (deadlines_reserve(&jobs->deadlines, jobs->count + 1) == 0)
        task = take_memory(jobs);
    if (!task) {
        fault_set(fault, FAULT_INTERNAL, NULL, "no memory for a job");
        return NULL;
    }
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

/* Adds `by` to the count of the task's state, if the task is accepted and has not ended. */
static void count_in_state(const struct task *task, int by)
{
    struct job_counts *counts = &task->jobs->counts;

    if (task->entry.number == 0 || task->ended)
        return;
    if (task->state == JOB_STATE_WAITING)
        counts->waiting += (uint32_t)by;
    else if (task->state == JOB_STATE_QUEUED)
        counts->queued[task->priority + 1] += (uint32_t)by;
    else if (task->state == JOB_STATE_RUNNING)
        counts->running += (uint32_t)by;
}

void task_become(struct task *task, enum job_state state)
{
    count_in_state(task, -1);
    task->state = state;
    count_in_state(task, 1);
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
    count_in_state(task, 1);
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

void task_queue(struct task *task)
{
    struct jobs *jobs = task->jobs;
    struct user *user = task->flow->user;
    const struct quota *quota = config_quota(jobs->config, user->uid);
    int32_t max = quota->max_priority;

    if (max == QUOTA_BY_USER)
        max = user->master ? 1 : 0;
    user->share.weight = quota->weight;
    task_become(task, JOB_STATE_QUEUED);
    scheduler_push(&jobs->scheduler, &task->flow->lanes, &task->queued, task->priority, max,
                   task->work->operands.bytes, jobs->clock);
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
    give_memory(jobs, task);

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
    const char *engine = mli_mov_engine_name();
    struct work *work = task->work;

    *result = (struct job_result){
        .job = task->entry.number,
        .has_dst = !work->prepared,
        .bytes = work->operands.bytes,
        .channels = work->job.common.channels,
        .ns_queued = task->end.started - task->admitted,
        .ns_moving = task->end.done - task->end.started,
    };
    memcpy(result->engine, engine, strnlen(engine, sizeof result->engine - 1));
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
    /* False for a running task that is given up: its transfer has not stopped yet. */
    const bool transferred = task->state != JOB_STATE_RUNNING && task->end.done;
    struct job_result result;
    struct ending ending = {.task = task, .state = JOB_STATE_DONE, .fault = fault};

    assert(!task->ended);
    count_in_state(task, -1);
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

void task_stop(struct task *task)
{
    if (task->state == JOB_STATE_RUNNING)
        (void)mli_mov_cancel(&task->handle);
}

void task_abort(struct task *task, const struct fault *fault)
{
    /* Cancel first: the transfer should have stopped when the client reads the answer. */
    task_stop(task);
    if (!task->ended)
        task_end(task, fault);
    if (task->state != JOB_STATE_RUNNING)
        task_destroy(task);
}

void task_cancel(struct task *task)
{
    struct fault fault;

    if (task->state == JOB_STATE_RUNNING) {
        task_stop(task);
        return;
    }
    fault_set(&fault, FAULT_CANCELLED, NULL, "the job was cancelled");
    task_abort(task, &fault);
}

/* Ending and queueing tasks: after other jobs, and at deadlines. */

/* Ends the dependant if the predecessor failed; else queues it if it waits for no other job. */
static void settle(struct dependency *dependency, const char *cause)
{
    struct task *task = dependency->dependant;
    struct fault fault;

    link_remove(&dependency->link);
    if (cause[0] != '\0') {
        complain(&fault, dependency->index, cause);
        task_abort(task, &fault);
    } else if (--task->waits == 0) {
        task_queue(task);
    }
}

void after_settle(struct jobs *jobs)
{
    if (link_empty(&jobs->settling))
        return;
    for (int i = 0; i < SETTLED_MAX && !link_empty(&jobs->settling); i++) {
        struct dependents *first = LINK_OWNER(jobs->settling.next, struct dependents, link);
        /* The analyser does not see that the list is unlinked before it is freed. */
        struct link *next = first->dependencies.next; /* NOLINT(clang-analyzer-unix.Malloc) */

        if (next != &first->dependencies) {
            settle(LINK_OWNER(next, struct dependency, link), first->cause);
        } else {
            link_remove(&first->link);
            free(first);
        }
    }
    jobs->clock = uv_hrtime();
}

/* Ends the task. A running task is destroyed when its transfer has stopped. */
static void expire(struct task *task)
{
    struct fault fault;

    fault_set(&fault, FAULT_TIMED_OUT, "/timeout_ms",
              "timeout_ms: the job was not done within %" PRIu32 " ms, it was %s", task->timeout_ms,
              task->state == JOB_STATE_RUNNING  ? "running"
              : task->state == JOB_STATE_QUEUED ? "still queued"
                                                : "still waiting for other jobs");
    task_abort(task, &fault);
}

void deadlines_expire(struct deadlines *deadlines)
{
    const uint64_t now = uv_hrtime();

    /* Tasks left after CHORE_TURN_NS are ended after the loop's other work. The analyser does not
     * see that expire() removes the task from the heap. */
    while (deadlines->count > 0 &&
           deadlines->heap[0]->deadline <= now && /* NOLINT(clang-analyzer-unix.Malloc) */
           uv_hrtime() - now < CHORE_TURN_NS)
        expire(deadlines->heap[0]);
    arm(deadlines);
}
