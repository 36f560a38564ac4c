/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/job_calls.h"

#include <stdlib.h>

#include "proto/json/members.h"

/* The method job.start. */

static int read_memory(const struct json *params, const char *key, struct start_memory *memory)
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
        read_memory(params, "src", &start->src) < 0 ||
        read_memory(params, "dst", &start->dst) < 0 ||
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

static void write_memory(struct jsonw *w, const char *key, const struct start_memory *memory)
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
    write_memory(w, "src", &start->src);
    write_memory(w, "dst", &start->dst);
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
