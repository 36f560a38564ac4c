/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/term/top_view.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/term/print.h"

enum { BAR = 20, CLIENTS_SHOWN = 8 };

struct rates {
    uint64_t ns, bytes_per_second, jobs_per_second;
    uint64_t channel_bytes[MLI_MOV_MAX_CHANNELS];
    uint32_t channel_percent[MLI_MOV_MAX_CHANNELS];
};

static uint64_t per_second(uint64_t amount, uint64_t ns)
{
    return ns ? (uint64_t)((double)amount * 1e9 / (double)ns) : 0;
}

/* Returns the growth of a counter. A restarted daemon counts from zero again. */
static uint64_t grown(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

static void find_rates(struct rates *rates, const struct top_sample *now,
                       const struct top_sample *before)
{
    static const struct daemon_stats none;
    const struct daemon_stats *old = before ? &before->stats : &none;
    const struct daemon_stats *stats = &now->stats;
    *rates = (struct rates){0};
    rates->ns = before ? now->time_ns - before->time_ns : stats->uptime_ms * 1000000;
    rates->bytes_per_second = per_second(grown(stats->bytes_moved, old->bytes_moved), rates->ns);
    rates->jobs_per_second = per_second(grown(stats->jobs.done, old->jobs.done), rates->ns);
    for (uint32_t i = 0; i < stats->channel_count; i++) {
        const struct channel_stats *channel = &stats->channels[i];
        uint64_t busy = grown(channel->busy_ns, old->channels[i].busy_ns);
        rates->channel_bytes[i] =
            per_second(grown(channel->bytes, old->channels[i].bytes), rates->ns);
        double share = rates->ns ? (double)busy * 100 / (double)rates->ns : 0;
        rates->channel_percent[i] = share > 100 ? 100 : (uint32_t)(share + 0.5);
    }
}

static void view_channel(struct textw *w, const struct channel_stats *channel, uint64_t bytes,
                         uint32_t percent)
{
    static const char full[] = "####################", blank[] = "                    ";
    static const char *const states[] = {
        [CHANNEL_IDLE] = "idle", [CHANNEL_BUSY] = "busy", [CHANNEL_QUARANTINED] = "quarantined"};
    char rate[PRINT_TEXT_MAX], job[PRINT_TEXT_MAX] = "";
    int filled = (int)(percent * BAR / 100);
    if (channel->job)
        snprintf(job, sizeof(job), "  job %" PRIu64, channel->job);
    textw_printf(w, "channel %-2" PRIu32 "  %-11s  [%.*s%.*s] %3" PRIu32 " %%  %11s/s%s\n",
                 channel->channel, states[channel->state], filled, full, BAR - filled, blank,
                 percent, print_bytes(rate, bytes), job);
}

static void view_clients(struct textw *w, const struct daemon_stats *stats)
{
    char moved[PRINT_TEXT_MAX], buffers[PRINT_TEXT_MAX];
    if (stats->connection_count > 0)
        textw_printf(w,
                     "\n  CLIENT      PID      UID     JOBS      DONE        MOVED      BUFFERS\n");
    for (uint32_t i = 0; i < stats->connection_count && i < CLIENTS_SHOWN; i++) {
        const struct connection_stats *c = &stats->connections[i];
        textw_printf(
            w, "%8" PRIu64 " %8" PRIu32 " %8" PRIu32 " %8" PRIu32 " %9" PRIu64 "  %11s  %11s\n",
            c->client, c->pid, c->uid, c->jobs, c->jobs_done, print_bytes(moved, c->bytes_moved),
            print_bytes(buffers, c->buffer_bytes));
    }
    if (stats->connection_count > CLIENTS_SHOWN)
        textw_printf(w, "     ... %" PRIu32 " more\n", stats->connection_count - CLIENTS_SHOWN);
}

void top_view(struct textw *w, const char *where, const struct top_sample *now,
              const struct top_sample *before)
{
    struct rates rates;
    const struct daemon_stats *stats = &now->stats;
    char one[PRINT_TEXT_MAX], two[PRINT_TEXT_MAX];
    find_rates(&rates, now, before);
    textw_printf(w, "mlid at %s, %s, up %s%s\n", where, service_phase_name(stats->phase),
                 print_since(one, stats->uptime_ms), before ? "" : "; rates since then");
    textw_printf(w,
                 "jobs: %" PRIu64 "/s, %s/s; %" PRIu64 " done, %" PRIu64 " failed, %" PRIu64
                 " cancelled, %" PRIu64 " refused\n",
                 rates.jobs_per_second, print_bytes(two, rates.bytes_per_second), stats->jobs.done,
                 stats->jobs.failed, stats->jobs.cancelled, stats->jobs.refused);
    textw_printf(w,
                 "queues: %" PRIu32 " high, %" PRIu32 " normal, %" PRIu32 " low, %" PRIu32
                 " waiting; %" PRIu32 " running\n\n",
                 stats->jobs.queued[2], stats->jobs.queued[1], stats->jobs.queued[0],
                 stats->jobs.waiting, stats->jobs.running);
    for (uint32_t i = 0; i < stats->channel_count; i++)
        view_channel(w, &stats->channels[i], rates.channel_bytes[i], rates.channel_percent[i]);
    view_clients(w, stats);
}

void top_json(struct jsonw *w, const struct top_sample *now, const struct top_sample *before)
{
    struct rates rates;
    find_rates(&rates, now, before);
    jsonw_object_begin(w, NULL);
    jsonw_object_begin(w, "rates");
    jsonw_uint(w, "interval_ns", rates.ns);
    jsonw_uint(w, "jobs_per_second", rates.jobs_per_second);
    jsonw_uint(w, "bytes_per_second", rates.bytes_per_second);
    jsonw_array_begin(w, "channels");
    for (uint32_t i = 0; i < now->stats.channel_count; i++) {
        jsonw_object_begin(w, NULL);
        jsonw_uint(w, "channel", now->stats.channels[i].channel);
        jsonw_uint(w, "bytes_per_second", rates.channel_bytes[i]);
        jsonw_uint(w, "busy_percent", rates.channel_percent[i]);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
    jsonw_object_end(w);
    jsonw_object_begin(w, "stats");
    daemon_stats_write_members(w, &now->stats);
    jsonw_object_end(w);
    jsonw_object_end(w);
}
