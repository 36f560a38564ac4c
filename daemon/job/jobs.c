/* SPDX-License-Identifier: BSD-3-Clause */
/* struct jobs: its start and end, the sessions of connections, and the admission of jobs. */
#include <inttypes.h>

#include "daemon/base/log.h"
#include "daemon/job/jobs.h"
#include "proto/json/json.h"

/* Forgets records beyond a lowered limits.history. */
static void on_trimming(struct chore *chore)
{
    struct jobs *jobs = LINK_OWNER(chore, struct jobs, trimming);
    const uint64_t begin = uv_hrtime();

    while (history_trim(&jobs->history)) {
        if (uv_hrtime() - begin < CHORE_SLICE_NS)
            continue;
        chore_add(jobs->chores, chore);
        return;
    }
}

static void configure(struct jobs *jobs)
{
    const struct scheduling *scheduling = &jobs->config->scheduling;

    jobs->scheduler.quantum = scheduling->quantum_bytes;
    jobs->scheduler.ageing_ns = (uint64_t)scheduling->ageing_ms * 1000 * 1000;
}

/* Ending the jobs in a shutdown. */

static void drop(struct task *task)
{
    struct flow *flow = task->flow;
    struct fault fault;

    if (flow->dropped++ == 0) {
        flow_hold(flow);
        link_append(&task->jobs->dropped, &flow->dropped_link);
    }
    fault_set(&fault, FAULT_SHUTTING_DOWN, NULL, "the service is shutting down");
    task_abort(task, &fault);
}

/* Ends the first task, or moves it to the end of the list if it is running. */
static void end_first(struct jobs *jobs)
{
    struct task *task = LINK_OWNER(jobs->tasks.next, struct task, all_link);

    jobs->to_end--;
    if (!task->ended && task->state != JOB_STATE_RUNNING) {
        drop(task);
        return;
    }
    link_remove(&task->all_link);
    link_append(&jobs->tasks, &task->all_link);
}

/* Logs how many tasks a connection has lost. */
static void log_first_dropped(struct jobs *jobs)
{
    struct flow *flow = LINK_OWNER(jobs->dropped.next, struct flow, dropped_link);
    struct log_line line;

    if (log_begin(&line, LOG_WARNING, "jobs dropped")) {
        flow_log(flow, &line);
        log_uint(&line, "jobs", flow->dropped);
        log_end(&line);
    }
    link_remove(&flow->dropped_link);
    flow->dropped = 0;
    flow_drop(flow);
}

static void log_all_dropped(struct jobs *jobs)
{
    while (!link_empty(&jobs->dropped))
        log_first_dropped(jobs);
}

/* Ends or logs the next task. Returns false if no task is left: then jobs_close() may have run. */
static bool end_next(struct jobs *jobs)
{
    if (jobs->to_end > 0 && !link_empty(&jobs->tasks))
        end_first(jobs);
    else if (!link_empty(&jobs->dropped))
        log_first_dropped(jobs);
    return (jobs->to_end > 0 && !link_empty(&jobs->tasks)) || !link_empty(&jobs->dropped);
}

static void on_ending(struct chore *chore)
{
    struct jobs *jobs = LINK_OWNER(chore, struct jobs, ending);
    const uint64_t begin = uv_hrtime();

    while (end_next(jobs)) {
        if (uv_hrtime() - begin < CHORE_SLICE_NS)
            continue;
        chore_add(jobs->chores, chore);
        return;
    }
}

/* Start and end of struct jobs. */

int jobs_init(struct jobs *jobs, uv_loop_t *loop, const struct config *config,
              struct chores *chores)
{
    const int error = dispatch_init(jobs, loop);

    if (error < 0)
        return error;
    jobs->loop = loop;
    jobs->config = config;
    jobs->chores = chores;
    users_init(&jobs->users);
    link_init(&jobs->tasks);
    link_init(&jobs->settling);
    link_init(&jobs->dropped);
    link_init(&jobs->wide);
    link_init(&jobs->running_tasks);
    channels_init(&jobs->channels, config->channel_offset, config->channels);
    scheduler_init(&jobs->scheduler, 0, 0);
    configure(jobs);
    registry_init(&jobs->registry);
    history_init(&jobs->history, &jobs->registry, config->history);
    chore_init(&jobs->trimming, on_trimming);
    chore_init(&jobs->ending, on_ending);
    return 0;
}

void jobs_close(struct jobs *jobs)
{
    chore_remove(&jobs->trimming);
    chore_remove(&jobs->ending);
    log_all_dropped(jobs);
    dispatch_close(jobs);
}

void jobs_finish(struct jobs *jobs)
{
    while (!link_empty(&jobs->settling))
        after_settle(jobs); /* no task is left: this frees empty lists of dependents */
    tasks_finish(jobs);
    history_finish(&jobs->history);
    registry_finish(&jobs->registry);
    users_finish(&jobs->users);
}

void jobs_reconfigure(struct jobs *jobs)
{
    history_set_limit(&jobs->history, jobs->config->history);
    if (!chore_queued(&jobs->trimming))
        chore_add(jobs->chores, &jobs->trimming);
    configure(jobs);
}

void jobs_stop(struct jobs *jobs)
{
    jobs->stopping = true;
    jobs->to_end = jobs->count;
    on_ending(&jobs->ending);
}

void jobs_end_all(struct jobs *jobs)
{
    struct link *l = jobs->tasks.next;

    chore_remove(&jobs->ending);
    while (l != &jobs->tasks) {
        struct task *task = LINK_OWNER(l, struct task, all_link);

        l = l->next;
        if (!task->ended)
            drop(task);
    }
    log_all_dropped(jobs);
}

bool jobs_have_room(const struct jobs *jobs, const struct flow *flow)
{
    const struct config *config = jobs->config;

    if (!jobs_are_taken(jobs))
        return true;
    if (jobs->count >= config->jobs)
        return false;
    return flow->jobs < config->jobs_per_client &&
           quota_allows(config_quota(config, flow->user->uid)->jobs, flow->user->jobs, jobs->count,
                        config->jobs);
}

int session_init(struct session *session, struct jobs *jobs, uint64_t number,
                 const struct credentials *peer)
{
    session->flow = flow_create(&jobs->users, number, peer);
    if (!session->flow)
        return -1;
    session->jobs = jobs;
    link_init(&session->tasks);
    buffers_init(&session->buffers, &session->flow->account, peer->uid);
    return 0;
}

void session_finish(struct session *session)
{
    flow_drop(session->flow);
}

void session_remember_refused(struct session *session, const char *name, const struct fault *fault)
{
    struct jobs *jobs = session->jobs;
    const struct entry entry = {
        .user = session->flow->user,
        .number = jobs->last_job + 1,
        .client = session->flow->number,
        .name = name,
    };
    struct record *record = record_create(&entry, fault);

    if (!record || !record->entry.name) {
        if (record)
            record_free(record);
        registry_hide_name(&jobs->registry, entry.client, name);
        return;
    }
    jobs->last_job++;
    record->refused = true;
    record->state = JOB_STATE_FAILED;
    record->first_channel = -1;
    registry_add(&jobs->registry, &record->entry);
    history_add(&jobs->history, record);
}

/* Admission: makes a task from the params and descriptors of job.submit. */

int admit_check_serving(const struct jobs *jobs, struct fault *fault)
{
    if (jobs->stopping)
        return fault_set(fault, FAULT_SHUTTING_DOWN, NULL, "the service is shutting down");
    if (jobs->draining)
        return fault_set(fault, FAULT_SHUTTING_DOWN, NULL,
                         "the service is %s and takes no new jobs",
                         jobs->count > 0 ? "draining" : "drained");
    return 0;
}

int admit_check_channels(const struct jobs *jobs, const struct job *job, struct fault *fault)
{
    if (job->common.channels <= jobs->config->channels)
        return 0;
    return fault_set(fault, FAULT_LIMIT, "/channels",
                     "channels: %" PRIu32 " given; the service has %" PRIu32
                     " (option --channels of mlid, and of mlictl run and batch)",
                     job->common.channels, jobs->config->channels);
}

static int fill(struct task *task, const struct json *params, const int *fds, size_t count)
{
    struct located_job located = {task->session, NULL, fds, count, PLACES_OF_JOB};
    struct fault *fault = params->fault;
    struct job *job;

    task->work = work_create();
    if (!task->work)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for a job");
    located.work = task->work;
    job = &task->work->job;
    if (job_wire_read(params, (uint32_t)count, job) < 0 ||
        admit_check_channels(task->jobs, job, fault) < 0 ||
        operands_init(&task->work->operands, job, fault) < 0 ||
        locate_job(&task->places, &located, fault) < 0 ||
        after_init(task, task->session, &job->after, fault) < 0)
        return -1;
    task->priority = job->common.priority;
    task->detached = job->detach;
    task_set_timeout(task, job->common.timeout_ms);
    return 0;
}

struct task *admit(struct session *session, const struct json *params, const int *fds, size_t count)
{
    struct task *task;

    if (admit_check_serving(session->jobs, params->fault) < 0)
        return NULL;
    task = task_create(session, params->fault);
    if (!task || fill(task, params, fds, count) == 0)
        return task;
    task_destroy(task);
    return NULL;
}

void admit_accept(struct task *task)
{
    task_accept(task);
    deadline_add(&task->jobs->deadlines, task);
    if (task->waits == 0)
        task_queue(task);
    events_send(task->jobs, task, EVENT_QUEUED, NULL);
}
