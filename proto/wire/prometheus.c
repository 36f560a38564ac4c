/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/prometheus.h"

#include <inttypes.h>

enum { NS_DIGITS = 1000 * 1000 * 1000 };

static void head(struct textw *w, const char *name, const char *type, const char *help)
{
    textw_printf(w, "# HELP mlid_%s %s\n# TYPE mlid_%s %s\n", name, help, name, type);
}

/* Writes nanoseconds as seconds without rounding. */
static void write_seconds(struct textw *w, uint64_t ns)
{
    textw_printf(w, "%" PRIu64 ".%09" PRIu64 "\n", ns / NS_DIGITS, ns % NS_DIGITS);
}

static void single(struct textw *w, const char *name, const char *type, const char *help,
                   uint64_t value)
{
    head(w, name, type, help);
    textw_printf(w, "mlid_%s %" PRIu64 "\n", name, value);
}

static void write_phase(struct textw *w, const struct daemon_stats *stats)
{
    head(w, "state", "gauge", "1 for the state the service is in.");
    for (int phase = PHASE_SERVING; phase <= PHASE_DRAINED; phase++)
        textw_printf(w, "mlid_state{state=\"%s\"} %d\n",
                     service_phase_name((enum service_phase)phase),
                     stats->phase == (enum service_phase)phase);
    head(w, "uptime_seconds", "gauge", "Time since the service was started.");
    textw_printf(w, "mlid_uptime_seconds ");
    write_seconds(w, stats->uptime_ms * 1000 * 1000);
}

static void write_jobs(struct textw *w, const struct daemon_stats *stats)
{
    static const char *const priorities[] = {"low", "normal", "high"};

    single(w, "jobs_submitted_total", "counter", "Jobs accepted.", stats->jobs.submitted);
    head(w, "jobs_ended_total", "counter", "Jobs ended, by result.");
    textw_printf(w, "mlid_jobs_ended_total{end=\"done\"} %" PRIu64 "\n", stats->jobs.done);
    textw_printf(w, "mlid_jobs_ended_total{end=\"failed\"} %" PRIu64 "\n", stats->jobs.failed);
    textw_printf(w, "mlid_jobs_ended_total{end=\"cancelled\"} %" PRIu64 "\n",
                 stats->jobs.cancelled);
    single(w, "jobs_refused_total", "counter", "Requests for a job answered with an error at once.",
           stats->jobs.refused);
    single(w, "jobs_waiting", "gauge", "Jobs that wait for other jobs.", stats->jobs.waiting);
    head(w, "jobs_queued", "gauge", "Jobs queued, by priority.");
    for (size_t i = 0; i < 3; i++)
        textw_printf(w, "mlid_jobs_queued{priority=\"%s\"} %" PRIu32 "\n", priorities[i],
                     stats->jobs.queued[i]);
    single(w, "jobs_running", "gauge", "Jobs on a channel.", stats->jobs.running);
    single(w, "moved_bytes_total", "counter", "Bytes written by jobs that were done.",
           stats->bytes_moved);
}

static void write_clients(struct textw *w, const struct daemon_stats *stats)
{
    single(w, "clients", "gauge", "Connections.", stats->clients.now);
    single(w, "clients_accepted_total", "counter", "Connections accepted.",
           stats->clients.accepted);
    single(w, "clients_turned_away_total", "counter", "Connections refused.",
           stats->clients.turned_away);
    single(w, "buffers", "gauge", "Buffers of all connections.", stats->buffers.now);
    single(w, "buffers_bytes", "gauge", "Bytes of all buffers.", stats->buffers.bytes);
    single(w, "prepared_jobs", "gauge", "Prepared jobs of all connections.", stats->prepared);
    single(w, "events_dropped_total", "counter",
           "Events dropped because subscribers were too slow.", stats->events_dropped);
}

/* Buckets of Prometheus are cumulative and include their bound; the last bucket has no bound. */
static void write_histogram(struct textw *w, const char *name, const char *help,
                            const struct histogram *histogram)
{
    uint64_t sum = 0;

    head(w, name, "histogram", help);
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
        uint64_t bound = (UINT64_C(1024) << i) - 1;

        sum += histogram->buckets[i];
        textw_printf(w, "mlid_%s_bucket{le=\"%" PRIu64 ".%09" PRIu64 "\"} %" PRIu64 "\n", name,
                     bound / NS_DIGITS, bound % NS_DIGITS, sum);
    }
    sum += histogram->buckets[HISTOGRAM_BUCKETS - 1];
    textw_printf(w, "mlid_%s_bucket{le=\"+Inf\"} %" PRIu64 "\nmlid_%s_sum ", name, sum, name);
    write_seconds(w, histogram->sum_ns);
    textw_printf(w, "mlid_%s_count %" PRIu64 "\n", name, sum);
}

static void write_channel_states(struct textw *w, const struct daemon_stats *stats)
{
    static const char *const states[] = {"idle", "busy", "quarantined"};

    head(w, "channel_state", "gauge", "1 for the state the channel is in.");
    for (uint32_t i = 0; i < stats->channel_count; i++) {
        for (unsigned k = 0; k < 3; k++)
            textw_printf(w, "mlid_channel_state{channel=\"%" PRIu32 "\",state=\"%s\"} %d\n",
                         stats->channels[i].channel, states[k], stats->channels[i].state == k);
    }
}

static void write_channels(struct textw *w, const struct daemon_stats *stats)
{
#define CHANNEL_METRIC(field, name, help)                                                          \
    head(w, name, "counter", help);                                                                \
    for (uint32_t i = 0; i < stats->channel_count; i++)                                            \
        textw_printf(w, "mlid_" name "{channel=\"%" PRIu32 "\"} %" PRIu64 "\n",                    \
                     stats->channels[i].channel, stats->channels[i].field);
    CHANNEL_METRIC(submitted, "channel_submitted_total", "Transfers given to the channel.")
    CHANNEL_METRIC(completed, "channel_completed_total", "Transfers that the channel completed.")
    CHANNEL_METRIC(failed, "channel_failed_total", "Transfers that failed.")
    CHANNEL_METRIC(cancelled, "channel_cancelled_total", "Transfers that were cancelled.")
    CHANNEL_METRIC(bytes, "channel_bytes_total", "Bytes written by the channel.")
    CHANNEL_METRIC(rows, "channel_rows_total", "Rows written by the channel.")
    CHANNEL_METRIC(cpu_bytes, "channel_cpu_bytes_total",
                   "Bytes that the processor moved instead of the channel's device.")
#undef CHANNEL_METRIC
    head(w, "channel_busy_seconds_total", "counter", "Time in which the channel had a transfer.");
    for (uint32_t i = 0; i < stats->channel_count; i++) {
        textw_printf(w, "mlid_channel_busy_seconds_total{channel=\"%" PRIu32 "\"} ",
                     stats->channels[i].channel);
        write_seconds(w, stats->channels[i].busy_ns);
    }
}

static void write_memories(struct textw *w, const struct daemon_stats *stats)
{
    if (stats->memory_count == 0)
        return;
#define MEMORY_METRIC(field, metric, help)                                                         \
    head(w, metric, "gauge", help);                                                                \
    for (uint32_t i = 0; i < stats->memory_count; i++)                                             \
        textw_printf(w, "mlid_" metric "{memory=\"%s\"} %" PRIu64 "\n", stats->memories[i].name,   \
                     (uint64_t)stats->memories[i].field);
    MEMORY_METRIC(size, "board_memory_bytes", "Bytes of the memory of the board.")
    MEMORY_METRIC(used, "board_memory_used_bytes", "Bytes of buffers and jobs in the memory.")
    MEMORY_METRIC(ranges, "board_memory_ranges", "Buffers and tensors of jobs in the memory.")
#undef MEMORY_METRIC
}

/* Connections are not labels: each new connection would create new time series. */
static void write_users(struct textw *w, const struct daemon_stats *stats)
{
#define USER_METRIC(field, name, type, help)                                                       \
    head(w, name, type, help);                                                                     \
    for (uint32_t i = 0; i < stats->user_count; i++)                                               \
        textw_printf(w, "mlid_" name "{uid=\"%" PRIu32 "\"} %" PRIu64 "\n", stats->users[i].uid,   \
                     (uint64_t)stats->users[i].field);
    USER_METRIC(clients, "user_clients", "gauge", "Connections of the user.")
    USER_METRIC(jobs, "user_jobs", "gauge", "Jobs of the user that are under way.")
    USER_METRIC(buffer_bytes, "user_buffer_bytes", "gauge", "Bytes of the user's buffers.")
    USER_METRIC(jobs_done, "user_jobs_done_total", "counter", "Jobs of the user that were done.")
    USER_METRIC(bytes_moved, "user_moved_bytes_total", "counter",
                "Bytes written by the user's jobs that were done.")
#undef USER_METRIC
}

void prometheus_write(struct textw *w, const struct daemon_stats *stats)
{
    write_phase(w, stats);
    write_jobs(w, stats);
    write_clients(w, stats);
    write_histogram(w, "job_queued_seconds", "Time from acceptance to start of a job.",
                    &stats->queued);
    write_histogram(w, "job_moving_seconds", "Time from start to end of a job.", &stats->moving);
    write_channel_states(w, stats);
    write_channels(w, stats);
    write_users(w, stats);
    write_memories(w, stats);
}
