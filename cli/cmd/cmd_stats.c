/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl stats: all counters of a daemon. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/cmd/command.h"
#include "cli/cmd/session.h"
#include "proto/wire/prometheus.h"

static const struct option options_table[] = {
    {"prometheus", NULL, "Print the text format of Prometheus."},
    ANY_LINK_OPTIONS,
    OPTIONS_COMMON,
};

static const char *mean(char out[PRINT_TEXT_MAX], const struct histogram *histogram)
{
    return print_time(out, histogram->count ? histogram->sum_ns / histogram->count : 0);
}

static void print_channel(const struct print_style *style, const struct channel_stats *channel)
{
    static const char *const states[] = {
        [CHANNEL_IDLE] = "idle", [CHANNEL_BUSY] = "busy", [CHANNEL_QUARANTINED] = "quarantined"};
    char bytes[PRINT_TEXT_MAX], busy[PRINT_TEXT_MAX], text[PRINT_TEXT_MAX],
        processor[2 * PRINT_TEXT_MAX] = "";

    if (channel->cpu_pieces > 0)
        snprintf(processor, sizeof processor, " (the processor moved %s of it)",
                 print_bytes(text, channel->cpu_bytes));
    print_line(style,
               "channel %-2" PRIu32 " %-11s %" PRIu64 " transfer%s, %" PRIu64 " failed, %" PRIu64
               " cancelled, %s%s, busy for %s",
               channel->channel, states[channel->state], channel->submitted,
               print_s(channel->submitted), channel->failed, channel->cancelled,
               print_bytes(bytes, channel->bytes), processor, print_time(busy, channel->busy_ns));
}

static void print_memory(const struct print_style *style, const struct memory_stats *memory)
{
    char used[PRINT_TEXT_MAX], size[PRINT_TEXT_MAX], largest[PRINT_TEXT_MAX];

    print_line(style, "board     %s: %s of %s used by %" PRIu32 " range%s, largest free range %s",
               memory->name, print_bytes(used, memory->used), print_bytes(size, memory->size),
               memory->ranges, print_s(memory->ranges), print_bytes(largest, memory->largest));
}

static void print_stats(const struct session *session, const void *answer)
{
    const struct print_style *style = &session->style;
    const struct daemon_stats *stats = answer;
    char one[PRINT_TEXT_MAX], two[PRINT_TEXT_MAX];

    print_line(style, "%s, up %s", service_phase_name(stats->phase),
               print_since(one, stats->uptime_ms));
    print_line(style,
               "jobs      %" PRIu64 " submitted, %" PRIu64 " done, %" PRIu64 " failed, %" PRIu64
               " cancelled, %" PRIu64 " refused",
               stats->jobs.submitted, stats->jobs.done, stats->jobs.failed, stats->jobs.cancelled,
               stats->jobs.refused);
    print_line(style,
               "now       %" PRIu32 " waiting, queued %" PRIu32 " low %" PRIu32 " normal %" PRIu32
               " high, %" PRIu32 " running",
               stats->jobs.waiting, stats->jobs.queued[0], stats->jobs.queued[1],
               stats->jobs.queued[2], stats->jobs.running);
    print_line(style, "moved     %s; on average %s queued, %s moving",
               print_bytes(one, stats->bytes_moved), mean(two, &stats->queued),
               mean((char[PRINT_TEXT_MAX]){0}, &stats->moving));
    print_line(style, "clients   %" PRIu32 " now, %" PRIu64 " accepted, %" PRIu64 " turned away",
               stats->clients.now, stats->clients.accepted, stats->clients.turned_away);
    print_line(style,
               "memory    %" PRIu32 " buffer%s, %s; %" PRIu32 " prepared job%s; %" PRIu64
               " event%s dropped",
               stats->buffers.now, print_s(stats->buffers.now),
               print_bytes(one, stats->buffers.bytes), stats->prepared, print_s(stats->prepared),
               stats->events_dropped, print_s(stats->events_dropped));
    for (uint32_t i = 0; i < stats->memory_count; i++)
        print_memory(style, &stats->memories[i]);
    for (uint32_t i = 0; i < stats->channel_count; i++)
        print_channel(style, &stats->channels[i]);
    for (uint32_t i = 0; i < stats->user_count; i++) {
        const struct user_stats *user = &stats->users[i];
        print_line(style,
                   "uid %-6" PRIu32 "%" PRIu32 " client%s, %" PRIu32 " job%s, %" PRIu64
                   " done, %s moved, buffers of %s",
                   user->uid, user->clients, print_s(user->clients), user->jobs,
                   print_s(user->jobs), user->jobs_done, print_bytes(one, user->bytes_moved),
                   print_bytes(two, user->buffer_bytes));
    }
}

static void write_stats(struct jsonw *w, const struct session *session, const void *stats)
{
    (void)session;
    daemon_stats_write_members(w, stats);
}

static enum exit_code print_metrics(const struct daemon_stats *stats)
{
    struct textw w;

    textw_init(&w);
    prometheus_write(&w, stats);
    enum exit_code code = w.failed ? EXIT_CODE_FAILED : EXIT_CODE_DONE;
    if (w.failed)
        print_error("out of memory");
    else
        fwrite(w.data, 1, w.length, stdout);
    textw_finish(&w);
    return code;
}

static enum exit_code ask_stats(struct session *session, void *context)
{
    static const struct question printed = {.print = print_stats, .write = write_stats};
    struct daemon_stats stats;
    struct fault fault;

    (void)context;
    if (session_stats(session, &stats, &fault))
        return print_failure(&session->style, NULL, &fault);
    if (options_get(session->options, "prometheus"))
        return print_metrics(&stats);
    session_print(session, &printed, &stats);
    return EXIT_CODE_DONE;
}

static enum exit_code stats(const struct options *options)
{
    if (options_get(options, "prometheus") && options_get(options, "json"))
        return print_invalid("--prometheus cannot be combined with --json: give one of them");
    return session_run_any(options, ask_stats, NULL);
}

const struct command cmd_stats = {
    .name = "stats",
    .arguments = "",
    .summary = "print all counters of a daemon",
    .details = "Prints jobs, times, channels, clients and users since the daemon started.\n",
    .options = options_table,
    .examples = {{"all counters", "mlictl stats"},
                 {"for a collector of Prometheus", "mlictl stats --prometheus > mlid.prom"}},
    .run = stats,
};
