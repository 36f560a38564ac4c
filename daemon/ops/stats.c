/* SPDX-License-Identifier: BSD-3-Clause */
#include "stats.h"

#include <string.h>

#include "client.h"
#include "mli_mov_api.h"
#include "state.h"
#include "task.h"

enum { NS_PER_MS = 1000 * 1000 };

static void fill_channels(struct daemon_stats *stats, const struct service *service)
{
    const struct config *config = &service->config;

    for (uint32_t i = 0; i < config->channels; i++) {
        const uint32_t channel = config->channel_offset + i;
        mli_mov_channel_stats counted;
        struct channel_stats *out;

        if (mli_mov_get_channel_stats((int)channel, &counted) != MLI_STATUS_OK)
            continue;
        out = &stats->channels[stats->channel_count++];
        out->channel = channel;
        if (service->channels.quarantined >> channel & 1)
            out->state = CHANNEL_QUARANTINED;
        else if (service->channels.busy >> channel & 1)
            out->state = CHANNEL_BUSY;
        out->submitted = counted.submitted;
        out->completed = counted.completed;
        out->failed = counted.failed;
        out->cancelled = counted.cancelled;
        out->bytes = counted.bytes;
        out->rows = counted.rows;
        out->busy_ns = counted.busy_ns;
    }
}

/* Which job holds which channels. */
static void fill_busy(struct daemon_stats *stats, const struct service *service)
{
    const struct link *head = &service->running_tasks;

    for (struct link *l = head->next; l != head; l = l->next) {
        const struct task *task = LINK_OWNER(l, struct task, place);

        for (uint32_t i = 0; i < stats->channel_count; i++) {
            const int64_t at = (int64_t)stats->channels[i].channel - task->first_channel;

            if (task->first_channel >= 0 && at >= 0 && at < task_channels(task))
                stats->channels[i].job = task->entry.number;
        }
    }
}

static void fill_waiting(struct daemon_stats *stats, const struct service *service)
{
    const struct link *head = &service->tasks;

    for (struct link *l = head->next; l != head; l = l->next)
        stats->jobs.waiting += LINK_OWNER(l, struct task, all_link)->state == JOB_STATE_WAITING;
}

static void fill_users(struct daemon_stats *stats, const struct service *service)
{
    const struct link *head = &service->users;

    for (struct link *l = head->next; l != head && stats->user_count < STATS_LIST_MAX;
         l = l->next) {
        const struct user *user = LINK_OWNER(l, struct user, link);

        stats->users[stats->user_count++] = (struct user_stats){
            .uid = user->uid,
            .clients = user->clients,
            .jobs = user->jobs,
            .buffer_bytes = user->buffer_bytes,
            .jobs_done = user->jobs_done,
            .bytes_moved = user->bytes_moved,
        };
    }
}

static void fill_connections(struct daemon_stats *stats, const struct service *service)
{
    const struct link *head = &service->clients;

    for (struct link *l = head->next; l != head; l = l->next) {
        const struct client *client = LINK_OWNER(l, struct client, link);
        const struct flow *flow = client->flow;

        stats->buffers.now += client->buffers.table.count;
        stats->buffers.bytes += flow->buffer_bytes;
        stats->prepared += client->prepared.table.count;
        if (stats->connection_count == STATS_LIST_MAX)
            continue;
        stats->connections[stats->connection_count++] = (struct connection_stats){
            .client = flow->number,
            .pid = (uint32_t)flow->pid,
            .uid = flow->user->uid,
            .jobs = flow->jobs,
            .jobs_done = flow->jobs_done,
            .bytes_moved = flow->bytes_moved,
            .buffer_bytes = flow->buffer_bytes,
        };
    }
}

static enum service_phase phase_of(const struct service *service)
{
    if (service->state == SERVICE_SERVING && !service->refusing)
        return PHASE_SERVING;
    return service->jobs > 0 ? PHASE_DRAINING : PHASE_DRAINED;
}

void stats_fill(struct daemon_stats *stats, const struct service *service)
{
    memset(stats, 0, sizeof *stats);
    stats->phase = phase_of(service);
    stats->uptime_ms = (uv_hrtime() - service->started) / NS_PER_MS;
    stats->jobs.submitted = service->totals.submitted;
    stats->jobs.done = service->totals.done;
    stats->jobs.failed = service->totals.failed;
    stats->jobs.cancelled = service->totals.cancelled;
    stats->jobs.refused = service->totals.refused;
    for (int i = 0; i < LANE_PRIORITIES; i++)
        stats->jobs.queued[i] = service->scheduler.lengths[i];
    stats->jobs.running = service->running;
    stats->bytes_moved = service->totals.bytes_moved;
    stats->queued = service->queued;
    stats->moving = service->moving;
    stats->clients.now = service->client_count;
    stats->clients.accepted = service->last_client;
    stats->clients.turned_away = service->turned_away;
    fill_channels(stats, service);
    fill_busy(stats, service);
    fill_waiting(stats, service);
    fill_users(stats, service);
    fill_connections(stats, service);
}
