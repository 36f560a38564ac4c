/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/daemon_calls.h"

#include "proto/json/members.h"

static const char *const phase_names[] = {"serving", "draining", "drained", NULL};

const char *service_phase_name(enum service_phase phase)
{
    return phase_names[phase];
}

int service_phase_read(const struct json *value, enum service_phase *phase)
{
    size_t index;

    if (json_choice(value, phase_names, &index) < 0)
        return -1;
    *phase = (enum service_phase)index;
    return 0;
}

/* The method daemon.info. */

/* To add a number to daemon.info, add it here and to struct daemon_info. */
#define INFO_NUMBERS(X)                                                                            \
    X(pid)                                                                                         \
    X(uptime_ms)                                                                                   \
    X(channels)                                                                                    \
    X(channels_busy)                                                                               \
    X(channels_quarantined)                                                                        \
    X(channel_offset)                                                                              \
    X(clients)                                                                                     \
    X(clients_max)                                                                                 \
    X(jobs_queued)                                                                                 \
    X(jobs_running)                                                                                \
    X(jobs_per_client_max)                                                                         \
    X(jobs_done)                                                                                   \
    X(jobs_failed)                                                                                 \
    X(bytes_moved)

void daemon_info_write(struct jsonw *w, const char *key, const struct daemon_info *info)
{
    jsonw_object_begin(w, key);
    jsonw_string(w, "version", info->version);
    if (*info->build)
        jsonw_string(w, "build", info->build);
    jsonw_uint(w, "protocol", info->protocol);
    jsonw_string(w, "state", service_phase_name(info->phase));
    jsonw_string(w, "engine", info->engine);
    if (*info->profile)
        jsonw_string(w, "profile", info->profile);
    if (*info->profile_digest)
        jsonw_string(w, "profile_digest", info->profile_digest);
#define WRITE(name) jsonw_uint(w, #name, info->name);
    INFO_NUMBERS(WRITE)
#undef WRITE
    jsonw_object_end(w);
}

int daemon_info_read(const struct json *result, struct daemon_info *info)
{
    struct json state = json_member(result, "state"), build = json_member(result, "build");
    struct json profile = json_member(result, "profile");
    struct json digest = json_member(result, "profile_digest");
    uint64_t number;

    *info = (struct daemon_info){0};
    if (json_object(result, NULL) < 0 ||
        member_text(result, "version", info->version, sizeof info->version) < 0 ||
        (json_present(&build) &&
         member_text(result, "build", info->build, sizeof info->build) < 0) ||
        member_u32(result, "protocol", &info->protocol) < 0 ||
        service_phase_read(&state, &info->phase) < 0 ||
        member_text(result, "engine", info->engine, sizeof info->engine) < 0 ||
        (json_present(&profile) &&
         member_text(result, "profile", info->profile, sizeof info->profile) < 0) ||
        (json_present(&digest) && member_text(result, "profile_digest", info->profile_digest,
                                              sizeof info->profile_digest) < 0))
        return -1;
#define READ(name)                                                                                 \
    if (member_number(result, #name, sizeof info->name, &number) < 0)                              \
        return -1;                                                                                 \
    info->name = (__typeof__(info->name))number;
    INFO_NUMBERS(READ)
#undef READ
    return 0;
}

int daemon_drain_read(const struct json *params, bool *wait)
{
    static const char *const keys[] = {"wait", NULL};

    *wait = true;
    return params_object(params, keys) < 0 ? -1 : optional_bool(params, "wait", wait);
}

/* The method daemon.stats. */

static const char *const channel_names[] = {"idle", "busy", "quarantined", NULL};

/* To add a number to daemon.stats, add it here and as a field of the struct that the list describes
 * (daemon_calls.h). */
#define JOBS_NUMBERS(X) X(submitted) X(done) X(failed) X(cancelled) X(refused) X(waiting)
#define CHANNEL_NUMBERS(X)                                                                         \
    X(submitted) X(completed) X(failed) X(cancelled) X(bytes) X(rows) X(busy_ns)
#define USER_NUMBERS(X) X(uid) X(clients) X(jobs) X(buffer_bytes) X(jobs_done) X(bytes_moved)
#define CONNECTION_NUMBERS(X)                                                                      \
    X(client) X(pid) X(uid) X(jobs) X(jobs_done) X(bytes_moved) X(buffer_bytes)
#define MEMORY_NUMBERS(X) X(base) X(size) X(used) X(largest) X(ranges)

#define WRITE(name) jsonw_uint(w, #name, at->name);
/* Reads a number into a field of 32 or 64 bits. */
#define READ(name)                                                                                 \
    if (member_number(value, #name, sizeof at->name, &number) < 0)                                 \
        return -1;                                                                                 \
    at->name = (__typeof__(at->name))number;

void histogram_add(struct histogram *histogram, uint64_t ns)
{
    unsigned bucket = ns < 1024 ? 0 : 54u - (unsigned)__builtin_clzll(ns);

    histogram->count++;
    histogram->sum_ns += ns;
    histogram->buckets[bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1]++;
}

/* Writing */

static void write_histogram(struct jsonw *w, const char *key, const struct histogram *histogram)
{
    jsonw_object_begin(w, key);
    jsonw_uint(w, "count", histogram->count);
    jsonw_uint(w, "sum_ns", histogram->sum_ns);
    jsonw_array_begin(w, "buckets");
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        jsonw_uint(w, NULL, histogram->buckets[i]);
    jsonw_array_end(w);
    jsonw_object_end(w);
}

static void write_jobs(struct jsonw *w, const struct daemon_stats *stats)
{
    const __typeof__(stats->jobs) *at = &stats->jobs;

    jsonw_object_begin(w, "jobs");
    JOBS_NUMBERS(WRITE)
    jsonw_array_begin(w, "queued");
    for (size_t i = 0; i < 3; i++)
        jsonw_uint(w, NULL, at->queued[i]);
    jsonw_array_end(w);
    jsonw_uint(w, "running", at->running);
    jsonw_object_end(w);
}

static void write_channel(struct jsonw *w, const struct channel_stats *at)
{
    jsonw_object_begin(w, NULL);
    jsonw_uint(w, "channel", at->channel);
    jsonw_string(w, "state", channel_names[at->state]);
    CHANNEL_NUMBERS(WRITE)
    if (at->cpu_pieces != 0) {
        jsonw_uint(w, "cpu_pieces", at->cpu_pieces);
        jsonw_uint(w, "cpu_bytes", at->cpu_bytes);
    }
    if (at->job != 0)
        jsonw_uint(w, "job", at->job);
    jsonw_object_end(w);
}

static void write_user(struct jsonw *w, const struct user_stats *at)
{
    jsonw_object_begin(w, NULL);
    USER_NUMBERS(WRITE)
    jsonw_object_end(w);
}

static void write_connection(struct jsonw *w, const struct connection_stats *at)
{
    jsonw_object_begin(w, NULL);
    CONNECTION_NUMBERS(WRITE)
    jsonw_object_end(w);
}

static void write_memory(struct jsonw *w, const struct memory_stats *at)
{
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "name", at->name);
    MEMORY_NUMBERS(WRITE)
    jsonw_object_end(w);
}

static void write_memories(struct jsonw *w, const struct daemon_stats *stats)
{
    if (stats->memory_count == 0)
        return;
    jsonw_array_begin(w, "memories");
    for (uint32_t i = 0; i < stats->memory_count; i++)
        write_memory(w, &stats->memories[i]);
    jsonw_array_end(w);
}

static void write_lists(struct jsonw *w, const struct daemon_stats *stats)
{
    jsonw_array_begin(w, "channels");
    for (uint32_t i = 0; i < stats->channel_count; i++)
        write_channel(w, &stats->channels[i]);
    jsonw_array_end(w);
    jsonw_array_begin(w, "users");
    for (uint32_t i = 0; i < stats->user_count; i++)
        write_user(w, &stats->users[i]);
    jsonw_array_end(w);
    jsonw_array_begin(w, "connections");
    for (uint32_t i = 0; i < stats->connection_count; i++)
        write_connection(w, &stats->connections[i]);
    jsonw_array_end(w);
}

void daemon_stats_write_members(struct jsonw *w, const struct daemon_stats *stats)
{
    jsonw_string(w, "state", service_phase_name(stats->phase));
    jsonw_uint(w, "uptime_ms", stats->uptime_ms);
    write_jobs(w, stats);
    jsonw_uint(w, "bytes_moved", stats->bytes_moved);
    jsonw_object_begin(w, "clients");
    jsonw_uint(w, "now", stats->clients.now);
    jsonw_uint(w, "accepted", stats->clients.accepted);
    jsonw_uint(w, "turned_away", stats->clients.turned_away);
    jsonw_object_end(w);
    jsonw_object_begin(w, "buffers");
    jsonw_uint(w, "now", stats->buffers.now);
    jsonw_uint(w, "bytes", stats->buffers.bytes);
    jsonw_object_end(w);
    jsonw_uint(w, "prepared", stats->prepared);
    jsonw_uint(w, "events_dropped", stats->events_dropped);
    write_histogram(w, "queued", &stats->queued);
    write_histogram(w, "moving", &stats->moving);
    write_memories(w, stats);
    write_lists(w, stats);
}

/* Reading */

/* Reads an array of exactly `count` numbers. */
static int read_numbers(const struct json *array, int64_t max, size_t count, uint64_t *out)
{
    struct json item = {0};
    size_t length;
    int64_t number;

    if (json_array(array, &length) < 0)
        return -1;
    if (length != count)
        return json_complain(array, "%zu entries given; %zu are required", length, count);
    while (json_next(array, &item)) {
        if (json_int(&item, 0, max, &number) < 0)
            return -1;
        out[item.index] = (uint64_t)number;
    }
    return 0;
}

static int read_histogram(const struct json *stats, const char *key, struct histogram *histogram)
{
    struct json value = json_member(stats, key), buckets = json_member(&value, "buckets");

    if (json_object(&value, NULL) < 0 || member_u64(&value, "count", &histogram->count) < 0 ||
        member_u64(&value, "sum_ns", &histogram->sum_ns) < 0)
        return -1;
    return read_numbers(&buckets, MEMBER_MAX, HISTOGRAM_BUCKETS, histogram->buckets);
}

static int read_jobs(const struct json *value, struct daemon_stats *stats)
{
    __typeof__(stats->jobs) *at = &stats->jobs;
    struct json queued = json_member(value, "queued");
    uint64_t number, levels[3] = {0};

    if (json_object(value, NULL) < 0 || read_numbers(&queued, UINT32_MAX, 3, levels) < 0)
        return -1;
    JOBS_NUMBERS(READ)
    for (size_t i = 0; i < 3; i++)
        at->queued[i] = (uint32_t)levels[i];
    return member_u32(value, "running", &at->running);
}

static int read_channel(const struct json *value, void *into)
{
    struct channel_stats *at = into;
    struct json state = json_member(value, "state");
    int64_t job = 0;
    uint64_t number;
    size_t index;

    if (json_object(value, NULL) < 0 || member_u32(value, "channel", &at->channel) < 0 ||
        json_choice(&state, channel_names, &index) < 0 ||
        optional_int(value, "job", 1, MEMBER_MAX, &job) < 0 ||
        optional_u64(value, "cpu_pieces", &at->cpu_pieces) < 0 ||
        optional_u64(value, "cpu_bytes", &at->cpu_bytes) < 0)
        return -1;
    at->state = (__typeof__(at->state))index;
    at->job = (uint64_t)job;
    CHANNEL_NUMBERS(READ)
    return 0;
}

static int read_user(const struct json *value, void *into)
{
    struct user_stats *at = into;
    uint64_t number;

    if (json_object(value, NULL) < 0)
        return -1;
    USER_NUMBERS(READ)
    return 0;
}

static int read_connection(const struct json *value, void *into)
{
    struct connection_stats *at = into;
    uint64_t number;

    if (json_object(value, NULL) < 0)
        return -1;
    CONNECTION_NUMBERS(READ)
    return 0;
}

static int read_memory(const struct json *value, void *into)
{
    struct memory_stats *at = into;
    uint64_t number;

    if (json_object(value, NULL) < 0 || member_text(value, "name", at->name, sizeof at->name) < 0)
        return -1;
    MEMORY_NUMBERS(READ)
    return 0;
}

/* Reads an array of at most `max` objects into `items`, of `size` bytes each. */
static int read_list(const struct json *stats, const char *key,
                     int (*read)(const struct json *value, void *into), void *items, size_t size,
                     size_t max, uint32_t *count)
{
    struct json array = json_member(stats, key), item = {0};
    size_t length;

    if (array_within(&array, max, &length) < 0)
        return -1;
    while (json_next(&array, &item)) {
        if (read(&item, (char *)items + item.index * size) < 0)
            return -1;
    }
    *count = (uint32_t)length;
    return 0;
}

static int read_lists(const struct json *result, struct daemon_stats *stats)
{
    struct json memories = json_member(result, "memories");

    if (json_present(&memories) &&
        read_list(result, "memories", read_memory, stats->memories, sizeof *stats->memories,
                  STATS_MEMORIES_MAX, &stats->memory_count) < 0)
        return -1;
    if (read_list(result, "channels", read_channel, stats->channels, sizeof *stats->channels,
                  MLI_MOV_MAX_CHANNELS, &stats->channel_count) < 0 ||
        read_list(result, "users", read_user, stats->users, sizeof *stats->users, STATS_LIST_MAX,
                  &stats->user_count) < 0)
        return -1;
    return read_list(result, "connections", read_connection, stats->connections,
                     sizeof *stats->connections, STATS_LIST_MAX, &stats->connection_count);
}

int daemon_stats_read(const struct json *result, struct daemon_stats *stats)
{
    struct json state = json_member(result, "state"), jobs = json_member(result, "jobs");
    struct json clients = json_member(result, "clients"), buffers = json_member(result, "buffers");

    *stats = (struct daemon_stats){0};
    if (json_object(result, NULL) < 0 || service_phase_read(&state, &stats->phase) < 0 ||
        member_u64(result, "uptime_ms", &stats->uptime_ms) < 0 || read_jobs(&jobs, stats) < 0 ||
        member_u64(result, "bytes_moved", &stats->bytes_moved) < 0 ||
        json_object(&clients, NULL) < 0 || member_u32(&clients, "now", &stats->clients.now) < 0 ||
        member_u64(&clients, "accepted", &stats->clients.accepted) < 0 ||
        member_u64(&clients, "turned_away", &stats->clients.turned_away) < 0 ||
        json_object(&buffers, NULL) < 0 || member_u32(&buffers, "now", &stats->buffers.now) < 0 ||
        member_u64(&buffers, "bytes", &stats->buffers.bytes) < 0 ||
        member_u32(result, "prepared", &stats->prepared) < 0 ||
        member_u64(result, "events_dropped", &stats->events_dropped) < 0 ||
        read_histogram(result, "queued", &stats->queued) < 0 ||
        read_histogram(result, "moving", &stats->moving) < 0)
        return -1;
    return read_lists(result, stats);
}
