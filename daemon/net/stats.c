/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of daemon.stats and of the metrics. */
#include <stdio.h>
#include <string.h>

#include "daemon/net/net.h"
#include "mli_mov_api.h"

enum { NS_PER_MS = 1000 * 1000 };

void stats_init(struct stats *stats)
{
    stats->started = uv_hrtime();
    for (int i = 0; i < MLI_MOV_MAX_CHANNELS; i++)
        (void)mli_mov_get_channel_stats(i, &stats->before[i]);
}

static int state_of(const struct channels *channels, uint32_t channel)
{
    if (channels->quarantined >> channel & 1)
        return CHANNEL_QUARANTINED;
    return channels->busy >> channel & 1 ? CHANNEL_BUSY : CHANNEL_IDLE;
}

static void fill_channel(struct channel_stats *out, const struct net *net, uint32_t channel)
{
    const mli_mov_channel_stats *before = &net->stats.before[channel];
    mli_mov_channel_stats counted = *before;

    (void)mli_mov_get_channel_stats((int)channel, &counted);
    *out = (struct channel_stats){
        .channel = channel,
        .state = state_of(&net->jobs->channels, channel),
        .submitted = counted.submitted - before->submitted,
        .completed = counted.completed - before->completed,
        .failed = counted.failed - before->failed,
        .cancelled = counted.cancelled - before->cancelled,
        .bytes = counted.bytes - before->bytes,
        .rows = counted.rows - before->rows,
        .busy_ns = counted.busy_ns - before->busy_ns,
        .cpu_pieces = counted.cpu_pieces - before->cpu_pieces,
        .cpu_bytes = counted.cpu_bytes - before->cpu_bytes,
    };
}

/* Adds the progress of a running transfer, because libmli counts a transfer only at its end. */
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

/* Keeps the highest value: a counter must not decrease, but the estimate for a running transfer may
 * exceed its final count a little. */
static void keep_rising(struct channel_stats *out, struct channel_peak *peak)
{
    if (out->bytes > peak->bytes)
        peak->bytes = out->bytes;
    if (out->busy_ns > peak->busy_ns)
        peak->busy_ns = out->busy_ns;
    out->bytes = peak->bytes;
    out->busy_ns = peak->busy_ns;
}

static void fill_channels(struct daemon_stats *stats, struct net *net)
{
    const uint32_t first = net->config->channel_offset;

    stats->channel_count = net->config->channels;
    for (uint32_t i = 0; i < stats->channel_count; i++)
        fill_channel(&stats->channels[i], net, first + i);
    for (struct link *l = net->jobs->running_tasks.next; l != &net->jobs->running_tasks;
         l = l->next) {
        const struct task *task = LINK_OWNER(l, struct task, place);
        const uint32_t at = (uint32_t)task->first_channel - first;

        for (uint32_t i = 0; i < task_channels(task); i++)
            add_running(&stats->channels[at + i], task);
    }
    for (uint32_t i = 0; i < stats->channel_count; i++)
        keep_rising(&stats->channels[i], &net->stats.peaks[first + i]);
}

static void count_tasks(struct daemon_stats *stats, const struct jobs *jobs)
{
    const struct job_counts *counts = &jobs->counts;

    stats->jobs.waiting = counts->waiting;
    stats->jobs.running = counts->running;
    for (int i = 0; i < LANE_PRIORITIES; i++)
        stats->jobs.queued[i] = counts->queued[i];
}

static bool sees_all(const struct user *viewer)
{
    return !viewer || viewer->master;
}

static void add_user(struct daemon_stats *stats, const struct user *user)
{
    stats->users[stats->user_count++] = (struct user_stats){
        .uid = user->uid,
        .clients = user->clients,
        .jobs = user->jobs,
        .buffer_bytes = user->account.bytes,
        .jobs_done = user->jobs_done,
        .bytes_moved = user->bytes_moved,
    };
}

/* Adds the users in a list, up to STATS_LIST_MAX in all. */
static void add_users(struct daemon_stats *stats, const struct link *users)
{
    for (struct link *l = users->next; l != users && stats->user_count < STATS_LIST_MAX;
         l = l->next)
        add_user(stats, LINK_OWNER(l, struct user, link));
}

static void fill_users(struct daemon_stats *stats, const struct users *users,
                       const struct user *viewer)
{
    if (!sees_all(viewer)) {
        add_user(stats, viewer);
        return;
    }
    add_users(stats, &users->busy);
    add_users(stats, &users->idle);
}

static void add_connection(struct daemon_stats *stats, const struct flow *flow)
{
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

/* Adds the connections that the viewer may see, up to STATS_LIST_MAX. Reads no other connection, so
 * that connections of other users cost no time. */
static void fill_connections(struct daemon_stats *stats, const struct net *net,
                             const struct user *viewer)
{
    const bool all = sees_all(viewer);
    const struct link *list = all ? &net->clients : &viewer->connections;

    for (struct link *l = list->next; l != list && stats->connection_count < STATS_LIST_MAX;
         l = l->next) {
        const struct client *client =
            all ? LINK_OWNER(l, struct client, link) : LINK_OWNER(l, struct client, of_user);

        add_connection(stats, client->session.flow);
    }
}

static void fill_memories(struct daemon_stats *stats, const struct board *board)
{
    _Static_assert((int)PROFILE_MEMORIES_MAX <= (int)STATS_MEMORIES_MAX, "a board fits");
    if (!board)
        return;
    stats->memory_count = board->profile.memory_count;
    for (uint32_t i = 0; i < stats->memory_count; i++) {
        const struct board_memory *memory = &board->memories[i];
        struct memory_stats *at = &stats->memories[i];

        snprintf(at->name, sizeof at->name, "%s", memory->described->name);
        at->base = memory->described->base;
        at->size = memory->described->size;
        at->used = memory->used;
        at->largest = board_largest(memory);
        at->ranges = memory->count;
    }
}

void stats_fill(struct daemon_stats *stats, struct net *net, const struct user *viewer)
{
    memset(stats, 0, sizeof *stats);
    stats->phase = jobs_phase(net->jobs);
    stats->uptime_ms = (uv_hrtime() - net->stats.started) / NS_PER_MS;
    stats->jobs.submitted = net->jobs->totals.submitted;
    stats->jobs.done = net->jobs->totals.done;
    stats->jobs.failed = net->jobs->totals.failed;
    stats->jobs.cancelled = net->jobs->totals.cancelled;
    stats->jobs.refused = net->jobs->totals.refused;
    stats->bytes_moved = net->jobs->totals.bytes_moved;
    stats->queued = net->jobs->queued;
    stats->moving = net->jobs->moving;
    stats->clients.now = net_clients(net);
    stats->clients.accepted = net->last_client;
    stats->clients.turned_away = net->turned_away;
    stats->events_dropped = net->subscriptions.dropped;
    count_tasks(stats, net->jobs);
    fill_channels(stats, net);
    stats->buffers.now = net->jobs->users.account.count;
    stats->buffers.bytes = net->jobs->users.account.bytes;
    stats->prepared = net->jobs->prepared;
    fill_users(stats, &net->jobs->users, viewer);
    fill_connections(stats, net, viewer);
    fill_memories(stats, net->jobs->board);
}
