/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics and events of any values: metrics for Prometheus, daemon.stats and traces must be
 * well-formed, and statistics must be the same after being written and read again.
 */
#include "proto/wire/chrome_trace.h"
#include "proto/wire/methods.h"
#include "proto/wire/prometheus.h"
#include "proto/wire/rpc.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_reader.h"
#include "tests/fuzz/well_formed.h"

enum { EVENTS_MAX = 40 };

#define JSON_NUMBER_MAX ((UINT64_C(1) << 53) - 1)

/* Fills in the numbers; numbers that are written to JSON are at most 2^53 - 1. */
static uint64_t number(struct fuzz_reader *reader)
{
    return fuzz_number(reader) & JSON_NUMBER_MAX;
}

static void fill_channel(struct channel_stats *channel, struct fuzz_reader *reader)
{
    channel->channel = fuzz_below(reader, MLI_MOV_MAX_CHANNELS);
    channel->state = fuzz_below(reader, 3);
    channel->submitted = number(reader);
    channel->completed = number(reader);
    channel->bytes = number(reader);
    channel->busy_ns = number(reader);
    channel->cpu_pieces = number(reader);
    channel->cpu_bytes = channel->cpu_pieces ? number(reader) : 0;
    channel->job = channel->state == CHANNEL_BUSY ? 1 + number(reader) / 2 : 0;
}

static void fill_memory(struct memory_stats *memory, struct fuzz_reader *reader)
{
    size_t length;
    const uint8_t *name = fuzz_piece(reader, MEMORY_NAME_MAX - 1, &length);

    /* Names come from profiles, which allow letters, digits and '_'. */
    for (size_t i = 0; i < length; i++)
        memory->name[i] = "abcdefghijklmnopqrstuvwxyz_01234"[name[i] & 31];
    if (length == 0)
        strcpy(memory->name, "m");
    memory->base = number(reader);
    memory->size = number(reader);
    memory->used = number(reader);
}

static void fill_stats(struct daemon_stats *stats, struct fuzz_reader *reader)
{
    memset(stats, 0, sizeof *stats);
    stats->phase = fuzz_below(reader, 3);
    stats->uptime_ms = number(reader);
    stats->jobs.submitted = number(reader);
    stats->jobs.done = number(reader);
    stats->bytes_moved = number(reader);
    stats->queued.sum_ns = number(reader);
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        stats->queued.buckets[i] = fuzz_u8(reader);
    stats->channel_count = fuzz_below(reader, MLI_MOV_MAX_CHANNELS + 1);
    stats->memory_count = fuzz_below(reader, 4);
    stats->user_count = fuzz_below(reader, 4);
    for (uint32_t i = 0; i < stats->channel_count; i++)
        fill_channel(&stats->channels[i], reader);
    for (uint32_t i = 0; i < stats->memory_count; i++)
        fill_memory(&stats->memories[i], reader);
    for (uint32_t i = 0; i < stats->user_count; i++)
        stats->users[i] = (struct user_stats){.uid = (uint32_t)fuzz_number(reader),
                                              .bytes_moved = number(reader)};
}

static void write_stats(struct jsonw *w, const struct daemon_stats *stats)
{
    jsonw_object_begin(w, NULL);
    daemon_stats_write_members(w, stats);
    jsonw_object_end(w);
    FUZZ_ASSERT(jsonw_text(w));
}

static void check_stats(const struct daemon_stats *stats)
{
    static struct daemon_stats again;
    struct jsonw first, second;
    struct textw metrics;
    struct json root;
    struct fault fault;

    textw_init(&metrics);
    prometheus_write(&metrics, stats);
    well_formed_prometheus(metrics.data, metrics.length);
    textw_finish(&metrics);
    jsonw_init(&first);
    jsonw_init(&second);
    write_stats(&first, stats);
    well_formed_json(first.data, first.length);
    FUZZ_ASSERT(json_parse(first.data, first.length, &rpc_reply_limits, &root, &fault) == 0);
    FUZZ_ASSERT(daemon_stats_read(&root, &again) == 0);
    write_stats(&second, &again);
    fuzz_check_same(&first, &second);
    json_free(&root);
    jsonw_finish(&first);
    jsonw_finish(&second);
}

static void fill_event(struct event *event, struct fault *fault, struct fuzz_reader *reader)
{
    static const char letters[] = "azAZ09_.:-";
    struct job_info *job = &event->job;
    size_t length;
    const uint8_t *name = fuzz_piece(reader, PROTO_NAME_MAX, &length);

    memset(event, 0, sizeof *event);
    event->kind = fuzz_below(reader, 4);
    event->time_ns = fuzz_number(reader);
    for (size_t i = 0; i < length; i++)
        job->name[i] = letters[name[i] % (sizeof letters - 1)];
    job->job = number(reader);
    job->client = number(reader);
    job->state = fuzz_below(reader, JOB_STATE_COUNT);
    job->channels = fuzz_below(reader, MLI_MOV_MAX_CHANNELS + 1);
    job->first_channel = (int32_t)fuzz_below(reader, MLI_MOV_MAX_CHANNELS) - 1;
    job->bytes = number(reader);
    job->ns_queued = fuzz_number(reader);
    job->ns_moving = fuzz_number(reader);
    fault_set(fault, FAULT_DMA_ERROR, NULL, "a channel failed");
    job->error = fuzz_rarely(reader) ? fault : NULL;
}

static void check_trace(struct fuzz_reader *reader)
{
    static struct chrome_trace trace;
    struct textw w;
    struct event event;
    struct fault fault;

    textw_init(&w);
    chrome_trace_init(&trace);
    chrome_trace_begin(&trace, "mlid", &w);
    for (int i = 0; i < EVENTS_MAX && fuzz_left(reader) > 0; i++) {
        fill_event(&event, &fault, reader);
        chrome_trace_event(&trace, &event, &w);
        if (fuzz_rarely(reader))
            chrome_trace_continue(&trace, "another", &w);
    }
    chrome_trace_end(&trace, &w);
    FUZZ_ASSERT(!w.failed);
    well_formed_any_json(w.data, w.length);
    FUZZ_ASSERT(strncmp(w.data, CHROME_TRACE_BEGIN, strlen(CHROME_TRACE_BEGIN)) == 0);
    textw_finish(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct daemon_stats stats;
    struct fuzz_reader reader = fuzz_reader_init(data, size);

    fill_stats(&stats, &reader);
    check_stats(&stats);
    check_trace(&reader);
    return 0;
}
