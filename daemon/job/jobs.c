/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/jobs.h"

#include "daemon/base/log.h"
#include "daemon/job/after.h"
#include "daemon/job/task.h"

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

int jobs_init(struct jobs *jobs, uv_loop_t *loop, const struct config *config,
              struct chores *chores)
{
    const int error = completions_init(&jobs->completions, loop);

    if (error < 0)
        return error;
    jobs->loop = loop;
    jobs->config = config;
    jobs->chores = chores;
    users_init(&jobs->users);
    link_init(&jobs->tasks);
    link_init(&jobs->settling);
    link_init(&jobs->wide);
    link_init(&jobs->running_tasks);
    channels_init(&jobs->channels, config->channel_offset, config->channels);
    scheduler_init(&jobs->scheduler, 0, 0);
    configure(jobs);
    registry_init(&jobs->registry);
    history_init(&jobs->history, &jobs->registry, config->history);
    chore_init(&jobs->trimming, on_trimming);
    deadlines_init(&jobs->deadlines, loop);
    watchdog_init(&jobs->watchdog, loop);
    return 0;
}

void jobs_close(struct jobs *jobs)
{
    deadlines_close(&jobs->deadlines);
    watchdog_close(&jobs->watchdog);
    chore_remove(&jobs->trimming);
    completions_close(&jobs->completions);
}

void jobs_finish(struct jobs *jobs)
{
    while (!link_empty(&jobs->settling))
        after_settle(jobs); /* no task is left: this frees empty lists of dependents */
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

static bool is_to_end(const struct task *task, bool running_too)
{
    return !task->ended && (running_too || task->state != JOB_STATE_RUNNING);
}

static void log_dropped(const struct flow *flow)
{
    struct log_line line;

    if (!log_begin(&line, LOG_WARNING, "jobs dropped"))
        return;
    flow_log(flow, &line);
    log_uint(&line, "jobs", flow->dropped);
    log_end(&line);
}

/* Logs how many tasks each connection loses. */
static void log_all_dropped(const struct jobs *jobs, bool running_too)
{
    const struct link *head = &jobs->tasks;

    for (struct link *l = head->next; l != head; l = l->next) {
        struct task *task = LINK_OWNER(l, struct task, all_link);

        task->flow->dropped += is_to_end(task, running_too);
    }
    for (struct link *l = head->next; l != head; l = l->next) {
        struct flow *flow = LINK_OWNER(l, struct task, all_link)->flow;

        if (flow->dropped > 0)
            log_dropped(flow);
        flow->dropped = 0;
    }
}

void jobs_end_all(struct jobs *jobs, bool running_too, const struct fault *fault)
{
    struct link *l = jobs->tasks.next;

    log_all_dropped(jobs, running_too);
    while (l != &jobs->tasks) { /* ending a task destroys no other task: it queues them */
        struct task *task = LINK_OWNER(l, struct task, all_link);

        l = l->next;
        if (is_to_end(task, running_too))
            task_abort(task, fault);
    }
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
                 const struct peer *peer)
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
