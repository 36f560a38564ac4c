/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "proto/json/json.h"
#include "proto/wire/methods.h"

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

/* Writes the field `name` of *at as a member. */
#define WRITE(name) jsonw_uint(w, #name, at->name);
/* Reads a member of the object `value` into the field `name` of *at, which has 32 or 64 bits. */
#define READ(name)                                                                                 \
    if (member_number(value, #name, sizeof at->name, &number) < 0)                                 \
        return -1;                                                                                 \
    at->name = (__typeof__(at->name))number;

static void write_info_numbers(struct jsonw *w, const struct daemon_info *at)
{
    INFO_NUMBERS(WRITE)
}

static int read_info_numbers(const struct json *value, struct daemon_info *at)
{
    uint64_t number;

    INFO_NUMBERS(READ)
    return 0;
}

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
    write_info_numbers(w, info);
    jsonw_object_end(w);
}

int daemon_info_read(const struct json *result, struct daemon_info *info)
{
    struct json state = json_member(result, "state"), build = json_member(result, "build");
    struct json profile = json_member(result, "profile");
    struct json digest = json_member(result, "profile_digest");

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
    return read_info_numbers(result, info);
}

int daemon_drain_read(const struct json *params, bool *wait)
{
    static const char *const keys[] = {"wait", NULL};

    *wait = true;
    return params_object(params, keys) < 0 ? -1 : optional_bool(params, "wait", wait);
}

/* The method daemon.stats. */

static const char *const channel_names[] = {"idle", "busy", "quarantined", NULL};

/* To add a number to daemon.stats, add it here and as a field of the struct that the list
 * describes. */
#define JOBS_NUMBERS(X) X(submitted) X(done) X(failed) X(cancelled) X(refused) X(waiting)
#define CHANNEL_NUMBERS(X)                                                                         \
    X(submitted) X(completed) X(failed) X(cancelled) X(bytes) X(rows) X(busy_ns)
#define USER_NUMBERS(X) X(uid) X(clients) X(jobs) X(buffer_bytes) X(jobs_done) X(bytes_moved)
#define CONNECTION_NUMBERS(X)                                                                      \
    X(client) X(pid) X(uid) X(jobs) X(jobs_done) X(bytes_moved) X(buffer_bytes)
#define MEMORY_NUMBERS(X) X(base) X(size) X(used) X(largest) X(ranges)

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

/* The methods buffer.*. */

static const char *const access_names[] = {"read", "write", NULL};
static const enum buffer_access accesses[] = {BUFFER_ACCESS_READ, BUFFER_ACCESS_WRITE};

static int read_access(const struct json *object, enum buffer_access *access)
{
    struct json value = json_member(object, "access");
    size_t index;

    if (json_choice(&value, access_names, &index) < 0)
        return -1;
    *access = accesses[index];
    return 0;
}

static void write_access(struct jsonw *w, enum buffer_access access)
{
    jsonw_string(w, "access", access_names[access == BUFFER_ACCESS_WRITE]);
}

static int read_size(const struct json *object, uint64_t *size)
{
    struct json value = json_member(object, "size");
    int64_t number;

    if (json_int(&value, 1, MEMBER_MAX, &number) < 0)
        return -1;
    *size = (uint64_t)number;
    return 0;
}

int buffer_register_read(const struct json *params, uint32_t fds, struct buffer_register *call)
{
    static const char *const keys[] = {"fd", "size", "access", NULL};
    struct json fd = json_member(params, "fd"), size = json_member(params, "size");
    struct json access = json_member(params, "access");
    int64_t number;

    *call = (struct buffer_register){0};
    if (params_object(params, keys) < 0 || json_int(&fd, 0, UINT32_MAX, &number) < 0)
        return -1;
    if (number >= fds)
        return json_complain(&fd, "%u given, but the message carries %u descriptors (from 0)",
                             (unsigned)number, fds);
    call->has_size = json_present(&size);
    if (call->has_size && read_size(params, &call->size) < 0)
        return -1;
    return json_present(&access) ? read_access(params, &call->access) : 0;
}

void buffer_register_write(struct jsonw *w, const struct buffer_register *call)
{
    jsonw_uint(w, "fd", 0);
    if (call->has_size)
        jsonw_uint(w, "size", call->size);
    if (call->access != BUFFER_ACCESS_DEFAULT)
        write_access(w, call->access);
}

int buffer_alloc_read(const struct json *params, struct buffer_alloc *call)
{
    static const char *const keys[] = {"size", "memory", "address", NULL};
    struct json address = json_member(params, "address");

    *call = (struct buffer_alloc){0};
    if (params_object(params, keys) < 0 || read_size(params, &call->size) < 0 ||
        memory_name_read(params, call->memory) < 0)
        return -1;
    call->has_address = json_present(&address);
    if (call->has_address && call->memory[0] == '\0')
        return json_complain(&address, "allowed only with \"memory\"");
    return optional_u64(params, "address", &call->address);
}

void buffer_alloc_write(struct jsonw *w, const struct buffer_alloc *call)
{
    jsonw_uint(w, "size", call->size);
    if (call->memory[0] != '\0')
        jsonw_string(w, "memory", call->memory);
    if (call->has_address)
        jsonw_uint(w, "address", call->address);
}

static void write_rest(struct jsonw *w, const struct buffer_info *info)
{
    jsonw_uint(w, "size", info->size);
    write_access(w, info->access);
    jsonw_bool(w, "sealed", info->sealed);
    if (info->memory[0] == '\0')
        return;
    jsonw_string(w, "memory", info->memory);
    jsonw_uint(w, "address", info->address);
}

void buffer_info_write_members(struct jsonw *w, const struct buffer_info *info)
{
    jsonw_uint(w, "buffer", info->buffer);
    write_rest(w, info);
}

static const char *const kind_names[] = {"registered", "allocated", NULL};

void buffer_info_write_item(struct jsonw *w, const struct buffer_info *info)
{
    jsonw_object_begin(w, NULL);
    jsonw_uint(w, "buffer", info->buffer);
    jsonw_string(w, "kind", kind_names[info->allocated]);
    write_rest(w, info);
    jsonw_uint(w, "jobs", info->jobs);
    jsonw_uint(w, "prepared", info->prepared);
    jsonw_object_end(w);
}

int buffer_info_read(const struct json *value, struct buffer_info *info)
{
    struct json buffer = json_member(value, "buffer"), kind = json_member(value, "kind");
    size_t index;
    int64_t number;

    *info = (struct buffer_info){0};
    if (json_object(value, NULL) < 0 || json_int(&buffer, 1, UINT32_MAX, &number) < 0 ||
        member_u64(value, "size", &info->size) < 0 || read_access(value, &info->access) < 0 ||
        member_bool(value, "sealed", &info->sealed) < 0)
        return -1;
    info->buffer = (uint32_t)number;
    if (memory_name_read(value, info->memory) < 0 ||
        (info->memory[0] != '\0' && member_u64(value, "address", &info->address) < 0))
        return -1;
    if (!json_present(&kind))
        return 0;
    if (json_choice(&kind, kind_names, &index) < 0 || member_u32(value, "jobs", &info->jobs) < 0 ||
        member_u32(value, "prepared", &info->prepared) < 0)
        return -1;
    info->allocated = index == 1;
    return 0;
}

/* The method job.start. */

static int read_start_memory(const struct json *params, const char *key,
                             struct start_memory *memory)
{
    static const char *const keys[] = {"buffer", "offset", NULL};
    struct json object = json_member(params, key);
    int64_t buffer = 0, offset = -1;

    if (!json_present(&object))
        return 0;
    if (json_object(&object, keys) < 0 ||
        optional_int(&object, "buffer", 1, UINT32_MAX, &buffer) < 0 ||
        optional_int(&object, "offset", 0, MEMBER_MAX, &offset) < 0)
        return -1;
    memory->has_buffer = buffer > 0;
    memory->buffer = (uint32_t)buffer;
    memory->has_offset = offset >= 0;
    memory->offset = memory->has_offset ? (uint64_t)offset : 0;
    return 0;
}

static int read_timeout(const struct json *params, uint32_t *timeout_ms)
{
    int64_t number = 0;

    if (optional_int(params, "timeout_ms", 0, JOB_TIMEOUT_MAX_MS, &number) < 0)
        return -1;
    *timeout_ms = (uint32_t)number;
    return 0;
}

static int read_start(const struct json *params, struct job_start *start)
{
    static const char *const keys[] = {"prepared",   "src",   "dst",    "priority",
                                       "timeout_ms", "after", "detach", NULL};
    struct json prepared = json_member(params, "prepared"), after;

    enum { NO_PRIORITY = 2 };
    int64_t number, priority = NO_PRIORITY;

    if (params_object(params, keys) < 0 || json_int(&prepared, 1, UINT32_MAX, &number) < 0 ||
        read_start_memory(params, "src", &start->src) < 0 ||
        read_start_memory(params, "dst", &start->dst) < 0 ||
        optional_int(params, "priority", -1, 1, &priority) < 0 ||
        read_timeout(params, &start->timeout_ms) < 0 ||
        optional_bool(params, "detach", &start->detach) < 0)
        return -1;
    start->prepared = (uint32_t)number;
    start->has_priority = priority != NO_PRIORITY;
    start->priority = start->has_priority ? (int32_t)priority : 0;
    after = json_member(params, "after");
    return job_refs_read(&after, JOB_AFTER_MAX, &start->after);
}

int job_start_read(const struct json *params, struct job_start *start)
{
    *start = (struct job_start){0};
    if (read_start(params, start) == 0)
        return 0;
    job_start_finish(start);
    return -1;
}

void job_start_finish(struct job_start *start)
{
    job_refs_finish(&start->after);
    *start = (struct job_start){0};
}

static void write_start_memory(struct jsonw *w, const char *key, const struct start_memory *memory)
{
    if (!memory->has_buffer && !memory->has_offset)
        return;
    jsonw_object_begin(w, key);
    if (memory->has_buffer)
        jsonw_uint(w, "buffer", memory->buffer);
    if (memory->has_offset)
        jsonw_uint(w, "offset", memory->offset);
    jsonw_object_end(w);
}

void job_start_write(struct jsonw *w, const struct job_start *start)
{
    jsonw_uint(w, "prepared", start->prepared);
    write_start_memory(w, "src", &start->src);
    write_start_memory(w, "dst", &start->dst);
    if (start->has_priority)
        jsonw_int(w, "priority", start->priority);
    if (start->timeout_ms != 0)
        jsonw_uint(w, "timeout_ms", start->timeout_ms);
    if (start->after.count > 0)
        job_refs_write(w, "after", &start->after);
    if (start->detach)
        jsonw_bool(w, "detach", true);
}

/* The method job.wait. */

static int read_waited(const struct json *params, struct job_wait *wait)
{
    struct json job = json_member(params, "job"), jobs = json_member(params, "jobs");
    struct json all = json_member(params, "all");
    bool yes;

    if (json_present(&job) + json_present(&jobs) + json_present(&all) != 1)
        return json_complain(params, "one of \"job\", \"jobs\" and \"all\" is required");
    if (json_present(&all)) {
        wait->what = JOB_WAIT_ALL;
        if (json_bool(&all, &yes) < 0)
            return -1;
        return yes ? 0 : json_complain(&all, "only true is allowed");
    }
    if (json_present(&jobs)) {
        wait->what = JOB_WAIT_SEVERAL;
        if (job_refs_read(&jobs, JOB_WAIT_MAX, &wait->jobs) < 0)
            return -1;
        return wait->jobs.count > 0
                   ? 0
                   : json_complain(&jobs, "0 entries given; 1 to %d are allowed", JOB_WAIT_MAX);
    }
    wait->what = JOB_WAIT_ONE;
    wait->jobs.refs = calloc(1, sizeof *wait->jobs.refs);
    if (!wait->jobs.refs)
        return fault_set(params->fault, FAULT_INTERNAL, NULL, "no memory for a job");
    wait->jobs.count = 1;
    return job_ref_read(&job, &wait->jobs.refs[0]);
}

int job_wait_read(const struct json *params, struct job_wait *wait)
{
    static const char *const keys[] = {"job", "jobs", "all", "timeout_ms", NULL};

    *wait = (struct job_wait){0};
    if (params_object(params, keys) == 0 && read_timeout(params, &wait->timeout_ms) == 0 &&
        read_waited(params, wait) == 0)
        return 0;
    job_wait_finish(wait);
    return -1;
}

void job_wait_finish(struct job_wait *wait)
{
    job_refs_finish(&wait->jobs);
    *wait = (struct job_wait){0};
}

void job_wait_write(struct jsonw *w, const struct job_wait *wait)
{
    switch (wait->what) {
    case JOB_WAIT_ONE:
        job_ref_write(w, "job", &wait->jobs.refs[0]);
        break;
    case JOB_WAIT_SEVERAL:
        job_refs_write(w, "jobs", &wait->jobs);
        break;
    case JOB_WAIT_ALL:
        jsonw_bool(w, "all", true);
        break;
    }
    if (wait->timeout_ms != 0)
        jsonw_uint(w, "timeout_ms", wait->timeout_ms);
}

/* The method job.list. */

static int read_query(const struct json *params, struct job_list_query *query)
{
    static const char *const keys[] = {"states", "client", "name", "before", "limit", NULL};
    struct json states = json_member(params, "states"), name = json_member(params, "name");
    int64_t client = 0, before = 0, limit = JOB_LIST_LIMIT;

    if (params_object(params, keys) < 0 ||
        (json_present(&states) && job_states_read(&states, &query->states) < 0) ||
        optional_int(params, "client", 1, MEMBER_MAX, &client) < 0 ||
        optional_int(params, "before", 1, MEMBER_MAX, &before) < 0 ||
        optional_int(params, "limit", 1, JOB_LIST_LIMIT_MAX, &limit) < 0)
        return -1;
    query->client = (uint64_t)client;
    query->before = (uint64_t)before;
    query->limit = (uint32_t)limit;
    return json_present(&name) ? job_name_read_wire(&name, &query->name) : 0;
}

int job_list_query_read(const struct json *params, struct job_list_query *query)
{
    *query = (struct job_list_query){0};
    if (read_query(params, query) == 0)
        return 0;
    job_list_query_finish(query);
    return -1;
}

void job_list_query_finish(struct job_list_query *query)
{
    free(query->name);
    *query = (struct job_list_query){0};
}

void job_list_query_write(struct jsonw *w, const struct job_list_query *query)
{
    if (query->states != 0)
        job_states_write(w, "states", query->states);
    if (query->client != 0)
        jsonw_uint(w, "client", query->client);
    if (query->name)
        jsonw_string(w, "name", query->name);
    if (query->before != 0)
        jsonw_uint(w, "before", query->before);
    if (query->limit != 0 && query->limit != JOB_LIST_LIMIT)
        jsonw_uint(w, "limit", query->limit);
}

/* Methods with a single param. */

int job_ref_params_read(const struct json *params, struct job_ref *ref)
{
    static const char *const keys[] = {"job", NULL};
    struct json job = json_member(params, "job");

    *ref = (struct job_ref){0};
    return params_object(params, keys) < 0 ? -1 : job_ref_read(&job, ref);
}

int number_param_read(const struct json *params, const char *key, uint32_t *number)
{
    const char *const keys[] = {key, NULL};
    struct json value = json_member(params, key);
    int64_t read;

    if (params_object(params, keys) < 0 || json_int(&value, 1, UINT32_MAX, &read) < 0)
        return -1;
    *number = (uint32_t)read;
    return 0;
}
