/* SPDX-License-Identifier: BSD-3-Clause */
#include "stats.h"

#include <string.h>

#include "mli_mov_api.h"
#include "state.h"

enum { NS_PER_MS = 1000 * 1000 };

static void fill_channels(struct daemon_stats *stats, const struct config *config)
{
    for (uint32_t i = 0; i < config->channels; i++) {
        const uint32_t channel = config->channel_offset + i;
        mli_mov_channel_stats counted;
        struct channel_stats *out;

        if (mli_mov_get_channel_stats((int)channel, &counted) != MLI_STATUS_OK)
            continue;
        out = &stats->channels[stats->channel_count++];
        out->channel = channel;
        out->submitted = counted.submitted;
        out->completed = counted.completed;
        out->failed = counted.failed;
        out->cancelled = counted.cancelled;
        out->bytes = counted.bytes;
        out->rows = counted.rows;
        out->busy_ns = counted.busy_ns;
    }
}

void stats_fill(struct daemon_stats *stats, const struct service *service)
{
    memset(stats, 0, sizeof *stats);
    stats->phase = service->state == SERVICE_SERVING ? PHASE_SERVING : PHASE_DRAINING;
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
    fill_channels(stats, &service->config);
}
