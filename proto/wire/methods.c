/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

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

#define COUNT(type, field) MEMBER_COUNT(struct type, field, #field)

/* To add a member to daemon.info, add it here and to struct daemon_info. */
static const struct member info_members[] = {
#define TEXT(field, lacks) MEMBER(struct daemon_info, field, #field, KIND_TEXT, .optional = (lacks))
    TEXT(version, false),
    TEXT(build, true),
    COUNT(daemon_info, protocol),
    MEMBER(struct daemon_info, phase, "state", KIND_WORD, .words = phase_names),
    TEXT(engine, false),
    TEXT(profile, true),
    TEXT(profile_digest, true),
    COUNT(daemon_info, pid),
    COUNT(daemon_info, uptime_ms),
    COUNT(daemon_info, channels),
    COUNT(daemon_info, channels_busy),
    COUNT(daemon_info, channels_quarantined),
    COUNT(daemon_info, channel_offset),
    COUNT(daemon_info, clients),
    COUNT(daemon_info, clients_max),
    COUNT(daemon_info, jobs_queued),
    COUNT(daemon_info, jobs_running),
    COUNT(daemon_info, jobs_per_client_max),
    COUNT(daemon_info, jobs_done),
    COUNT(daemon_info, jobs_failed),
    COUNT(daemon_info, bytes_moved),
    {0},
#undef TEXT
};

void daemon_info_write(struct jsonw *w, const char *key, const struct daemon_info *info)
{
    members_write_object(w, key, info_members, info);
}

int daemon_info_read(const struct json *result, struct daemon_info *info)
{
    *info = (struct daemon_info){0};
    return members_read_open(info, info_members, result);
}

int daemon_drain_read(const struct json *params, bool *wait)
{
    static const char *const keys[] = {"wait", NULL};

    *wait = true;
    return params_object(params, keys) < 0 ? -1 : optional_bool(params, "wait", wait);
}

/* The method daemon.stats. */

static const char *const channel_names[] = {"idle", "busy", "quarantined", NULL};

/* To add a member to daemon.stats, add it here and to the struct that the table describes. */

static const struct member histogram_members[] = {
    MEMBER_COUNT(struct histogram, count, "count"),
    MEMBER_COUNT(struct histogram, sum_ns, "sum_ns"),
    MEMBER_ARRAY(struct histogram, buckets, "buckets", KIND_NUMBERS, .max = MEMBER_MAX),
    {0},
};

static const struct member channel_members[] = {
    COUNT(channel_stats, channel),
    MEMBER(struct channel_stats, state, "state", KIND_WORD, .words = channel_names),
    COUNT(channel_stats, submitted),
    COUNT(channel_stats, completed),
    COUNT(channel_stats, failed),
    COUNT(channel_stats, cancelled),
    COUNT(channel_stats, bytes),
    COUNT(channel_stats, rows),
    COUNT(channel_stats, busy_ns),
    NUMBER(struct channel_stats, cpu_pieces, "cpu_pieces", 0, MEMBER_MAX, 0),
    NUMBER(struct channel_stats, cpu_bytes, "cpu_bytes", 0, MEMBER_MAX, 0),
    NUMBER(struct channel_stats, job, "job", 1, MEMBER_MAX, 0),
    {0},
};

static const struct member user_members[] = {
    COUNT(user_stats, uid),
    COUNT(user_stats, clients),
    COUNT(user_stats, jobs),
    COUNT(user_stats, buffer_bytes),
    COUNT(user_stats, jobs_done),
    COUNT(user_stats, bytes_moved),
    {0},
};

static const struct member connection_members[] = {
    COUNT(connection_stats, client),       COUNT(connection_stats, pid),
    COUNT(connection_stats, uid),          COUNT(connection_stats, jobs),
    COUNT(connection_stats, jobs_done),    COUNT(connection_stats, bytes_moved),
    COUNT(connection_stats, buffer_bytes), {0},
};

static const struct member memory_members[] = {
    MEMBER(struct memory_stats, name, "name", KIND_TEXT, .optional = false),
    COUNT(memory_stats, base),
    COUNT(memory_stats, size),
    COUNT(memory_stats, used),
    COUNT(memory_stats, largest),
    COUNT(memory_stats, ranges),
    {0},
};

static const struct member jobs_members[] = {
    MEMBER_COUNT(struct daemon_stats, jobs.submitted, "submitted"),
    MEMBER_COUNT(struct daemon_stats, jobs.done, "done"),
    MEMBER_COUNT(struct daemon_stats, jobs.failed, "failed"),
    MEMBER_COUNT(struct daemon_stats, jobs.cancelled, "cancelled"),
    MEMBER_COUNT(struct daemon_stats, jobs.refused, "refused"),
    MEMBER_COUNT(struct daemon_stats, jobs.waiting, "waiting"),
    MEMBER_ARRAY(struct daemon_stats, jobs.queued, "queued", KIND_NUMBERS, .max = UINT32_MAX),
    MEMBER_COUNT(struct daemon_stats, jobs.running, "running"),
    {0},
};

static const struct member clients_members[] = {
    MEMBER_COUNT(struct daemon_stats, clients.now, "now"),
    MEMBER_COUNT(struct daemon_stats, clients.accepted, "accepted"),
    MEMBER_COUNT(struct daemon_stats, clients.turned_away, "turned_away"),
    {0},
};

static const struct member buffers_members[] = {
    MEMBER_COUNT(struct daemon_stats, buffers.now, "now"),
    MEMBER_COUNT(struct daemon_stats, buffers.bytes, "bytes"),
    {0},
};

#define HISTOGRAM(field)                                                                           \
    MEMBER(struct daemon_stats, field, #field, KIND_OBJECT, .members = histogram_members)
#define LIST(field, one, lacks)                                                                    \
    MEMBER_ARRAY(struct daemon_stats, field, #field, KIND_LIST, .members = one##_members,          \
                 .count_at = offsetof(struct daemon_stats, one##_count), .optional = (lacks))
static const struct member stats_members[] = {
    MEMBER(struct daemon_stats, phase, "state", KIND_WORD, .words = phase_names),
    COUNT(daemon_stats, uptime_ms),
    {.key = "jobs", .kind = KIND_OBJECT, .members = jobs_members},
    COUNT(daemon_stats, bytes_moved),
    {.key = "clients", .kind = KIND_OBJECT, .members = clients_members},
    {.key = "buffers", .kind = KIND_OBJECT, .members = buffers_members},
    COUNT(daemon_stats, prepared),
    COUNT(daemon_stats, events_dropped),
    HISTOGRAM(queued),
    HISTOGRAM(moving),
    LIST(memories, memory, true),
    LIST(channels, channel, false),
    LIST(users, user, false),
    LIST(connections, connection, false),
    {0},
};

void histogram_add(struct histogram *histogram, uint64_t ns)
{
    unsigned bucket = ns < 1024 ? 0 : 54u - (unsigned)__builtin_clzll(ns);

    histogram->count++;
    histogram->sum_ns += ns;
    histogram->buckets[bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1]++;
}

void daemon_stats_write_members(struct jsonw *w, const struct daemon_stats *stats)
{
    members_write(w, stats_members, stats);
}

int daemon_stats_read(const struct json *result, struct daemon_stats *stats)
{
    *stats = (struct daemon_stats){0};
    return members_read_open(stats, stats_members, result);
}

/* The methods buffer.*. */

static const char *const access_names[] = {"read", "write", NULL};

static int read_access(const struct json *object, enum buffer_access *access)
{
    struct json value = json_member(object, "access");
    size_t index;

    if (json_choice(&value, access_names, &index) < 0)
        return -1;
    *access = (enum buffer_access)(BUFFER_ACCESS_READ + index);
    return 0;
}

static void write_access(struct jsonw *w, enum buffer_access access)
{
    jsonw_string(w, "access", access_names[access - BUFFER_ACCESS_READ]);
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

static int read_start_memory(const struct json *object, struct start_memory *memory)
{
    static const char *const keys[] = {"buffer", "offset", NULL};
    struct json members[2];
    int64_t buffer = 0, offset = -1;

    if (json_members(object, keys, members) < 0 ||
        present_int(&members[0], 1, UINT32_MAX, &buffer) < 0 ||
        present_int(&members[1], 0, MEMBER_MAX, &offset) < 0)
        return -1;
    memory->has_buffer = buffer > 0;
    memory->buffer = (uint32_t)buffer;
    memory->has_offset = offset >= 0;
    memory->offset = memory->has_offset ? (uint64_t)offset : 0;
    return 0;
}

static int read_start(const struct json *params, struct job_start *start)
{
    enum { PREPARED, SRC, DST, PRIORITY, TIMEOUT, AFTER, DETACH, MEMBERS, NO_PRIORITY = 2 };
    static const char *const keys[] = {"prepared",   "src",   "dst",    "priority",
                                       "timeout_ms", "after", "detach", NULL};
    struct json members[MEMBERS];
    int64_t number, priority = NO_PRIORITY, timeout = 0;

    if (json_members(params, keys, members) < 0 ||
        json_int(&members[PREPARED], 1, UINT32_MAX, &number) < 0 ||
        read_start_memory(&members[SRC], &start->src) < 0 ||
        read_start_memory(&members[DST], &start->dst) < 0 ||
        present_int(&members[PRIORITY], -1, 1, &priority) < 0 ||
        present_int(&members[TIMEOUT], 0, JOB_TIMEOUT_MAX_MS, &timeout) < 0 ||
        (json_present(&members[DETACH]) && json_bool(&members[DETACH], &start->detach) < 0))
        return -1;
    start->prepared = (uint32_t)number;
    start->has_priority = priority != NO_PRIORITY;
    start->priority = start->has_priority ? (int32_t)priority : 0;
    start->timeout_ms = (uint32_t)timeout;
    return job_refs_read(&members[AFTER], JOB_AFTER_MAX, &start->after);
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

static int read_waited(const struct json *params, const struct json *members, struct job_wait *wait)
{
    const struct json *job = &members[0], *jobs = &members[1], *all = &members[2];
    bool yes;

    if (json_present(job) + json_present(jobs) + json_present(all) != 1)
        return json_complain(params, "one of \"job\", \"jobs\" and \"all\" is required");
    if (json_present(all)) {
        wait->what = JOB_WAIT_ALL;
        if (json_bool(all, &yes) < 0)
            return -1;
        return yes ? 0 : json_complain(all, "only true is allowed");
    }
    if (json_present(jobs)) {
        wait->what = JOB_WAIT_SEVERAL;
        if (job_refs_read(jobs, JOB_WAIT_MAX, &wait->jobs) < 0)
            return -1;
        return wait->jobs.count > 0
                   ? 0
                   : json_complain(jobs, "0 entries given; 1 to %d are allowed", JOB_WAIT_MAX);
    }
    wait->what = JOB_WAIT_ONE;
    wait->jobs.refs = calloc(1, sizeof *wait->jobs.refs);
    if (!wait->jobs.refs)
        return fault_set(params->fault, FAULT_INTERNAL, NULL, "no memory for a job");
    wait->jobs.count = 1;
    return job_ref_read(job, &wait->jobs.refs[0]);
}

int job_wait_read(const struct json *params, struct job_wait *wait)
{
    static const char *const keys[] = {"job", "jobs", "all", "timeout_ms", NULL};

    struct json members[4];
    int64_t timeout = 0;

    *wait = (struct job_wait){0};
    if (json_members(params, keys, members) == 0 &&
        present_int(&members[3], 0, JOB_TIMEOUT_MAX_MS, &timeout) == 0 &&
        read_waited(params, members, wait) == 0) {
        wait->timeout_ms = (uint32_t)timeout;
        return 0;
    }
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

static const struct member query_members[] = {
    {.key = "states", .kind = KIND_OTHER},
    NUMBER(struct job_list_query, client, "client", 1, MEMBER_MAX, 0),
    {.key = "name", .kind = KIND_OTHER},
    NUMBER(struct job_list_query, before, "before", 1, MEMBER_MAX, 0),
    NUMBER(struct job_list_query, limit, "limit", 1, JOB_LIST_LIMIT_MAX, JOB_LIST_LIMIT),
    {0},
};

static int read_query(const struct json *params, struct job_list_query *query)
{
    struct json states = json_member(params, "states"), name = json_member(params, "name");

    members_default(query, query_members);
    if (members_read_closed(query, query_members, params) < 0 ||
        (json_present(&states) && job_states_read(&states, &query->states) < 0))
        return -1;
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
