/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/ops/stats.h"

#include <string.h>

#include "daemon/job/task.h"
#include "daemon/net/client.h"
#include "daemon/ops/drain.h"
#include "daemon/service_state.h"
#include "mli_mov_api.h"

enum { NS_PER_MS = 1000 * 1000 };

void stats_init(struct service *service)
{
    for (int i = 0; i < MLI_MOV_MAX_CHANNELS; i++)
        (void)mli_mov_get_channel_stats(i, &service->before[i]);
}

static int state_of(const struct channels *channels, uint32_t channel)
{
    if (channels->quarantined >> channel & 1)
        return CHANNEL_QUARANTINED;
    return channels->busy >> channel & 1 ? CHANNEL_BUSY : CHANNEL_IDLE;
}

static void fill_channel(struct channel_stats *out, const struct service *service, uint32_t channel)
{
    const mli_mov_channel_stats *before = &service->before[channel];
    mli_mov_channel_stats counted = *before;

    (void)mli_mov_get_channel_stats((int)channel, &counted);
    *out = (struct channel_stats){
        .channel = channel,
        .state = state_of(&service->channels, channel),
        .submitted = counted.submitted - before->submitted,
        .completed = counted.completed - before->completed,
        .failed = counted.failed - before->failed,
        .cancelled = counted.cancelled - before->cancelled,
        .bytes = counted.bytes - before->bytes,
        .rows = counted.rows - before->rows,
        .busy_ns = counted.busy_ns - before->busy_ns,
    };
}

/* libmli counts a transfer when it has ended; what it has done until now is a channel's too. */
static void add_running(struct channel_stats *out, const struct task *task)
{
    mli_mov_status_t status = {0};

    out->job = task->entry.number;
    if (mli_mov_get_status(&task->handle, &status) != MLI_STATUS_OK ||
        status.stage != MLI_MOV_RUNNING)
        return;
    out->bytes += status.bytes / task_channels(task);
    out->busy_ns += uv_hrtime() - task->end.started;
}

/* The estimate may be a little above what is counted in the end, and a counter never falls. */
static void keep_rising(struct channel_stats *out, struct told *told)
{
    if (out->bytes > told->bytes)
        told->bytes = out->bytes;
    if (out->busy_ns > told->busy_ns)
        told->busy_ns = out->busy_ns;
    out->bytes = told->bytes;
    out->busy_ns = told->busy_ns;
}

static void fill_channels(struct daemon_stats *stats, struct service *service)
{
    const uint32_t first = service->config.channel_offset;

    stats->channel_count = service->config.channels;
    for (uint32_t i = 0; i < stats->channel_count; i++)
        fill_channel(&stats->channels[i], service, first + i);
    for (struct link *l = service->running_tasks.next; l != &service->running_tasks; l = l->next) {
        const struct task *task = LINK_OWNER(l, struct task, place);
        const uint32_t at = (uint32_t)task->first_channel - first;

        for (uint32_t i = 0; i < task_channels(task); i++)
            add_running(&stats->channels[at + i], task);
    }
    for (uint32_t i = 0; i < stats->channel_count; i++)
        keep_rising(&stats->channels[i], &service->told[first + i]);
}

static void count_tasks(struct daemon_stats *stats, const struct service *service)
{
    const struct job_counts *counts = &service->counts;

    stats->jobs.waiting = counts->waiting;
    stats->jobs.running = counts->running;
    for (int i = 0; i < LANE_PRIORITIES; i++)
        stats->jobs.queued[i] = counts->queued[i];
}

static bool may_see(const struct user *viewer, const struct user *user)
{
    return !viewer || viewer->master || viewer == user;
}

/* As many of a list of users as there is room for. */
static void fill_users(struct daemon_stats *stats, const struct link *users,
                       const struct user *viewer)
{
    for (struct link *l = users->next; l != users && stats->user_count < STATS_LIST_MAX;
         l = l->next) {
        const struct user *user = LINK_OWNER(l, struct user, link);

        if (!may_see(viewer, user))
            continue;
        stats->users[stats->user_count++] = (struct user_stats){
            .uid = user->uid,
            .clients = user->clients,
            .jobs = user->jobs,
            .buffer_bytes = user->account.bytes,
            .jobs_done = user->jobs_done,
            .bytes_moved = user->bytes_moved,
        };
    }
}

static void fill_connections(struct daemon_stats *stats, const struct service *service,
                             const struct user *viewer)
{
    const struct link *clients = &service->clients;

    for (struct link *l = clients->next; l != clients && stats->connection_count < STATS_LIST_MAX;
         l = l->next) {
        const struct flow *flow = LINK_OWNER(l, struct client, link)->flow;

        if (!may_see(viewer, flow->user))
            continue;
        stats->connections[stats->connection_count++] = (struct connection_stats){
            .client = flow->number,
            .pid = (uint32_t)flow->pid,
            .uid = flow->user->uid,
            .jobs = flow->jobs,
            .jobs_done = flow->jobs_done,
            .bytes_moved = flow->bytes_moved,
            .buffer_bytes = flow->account.bytes,
        };
    }
}

void stats_fill(struct daemon_stats *stats, struct service *service, const struct user *viewer)
{
    memset(stats, 0, sizeof *stats);
    stats->phase = drain_phase(service);
    stats->uptime_ms = (uv_hrtime() - service->started) / NS_PER_MS;
    stats->jobs.submitted = service->totals.submitted;
    stats->jobs.done = service->totals.done;
    stats->jobs.failed = service->totals.failed;
    stats->jobs.cancelled = service->totals.cancelled;
    stats->jobs.refused = service->totals.refused;
    stats->bytes_moved = service->totals.bytes_moved;
    stats->queued = service->queued;
    stats->moving = service->moving;
    stats->clients.now = slots_used(&service->slots);
    stats->clients.accepted = service->last_client;
    stats->clients.turned_away = service->turned_away;
    stats->events_dropped = service->news.dropped;
    count_tasks(stats, service);
    fill_channels(stats, service);
    stats->buffers.now = service->users.account.count;
    stats->buffers.bytes = service->users.account.bytes;
    stats->prepared = service->prepared;
    fill_users(stats, &service->users.busy, viewer);
    fill_users(stats, &service->users.idle, viewer);
    fill_connections(stats, service, viewer);
}
