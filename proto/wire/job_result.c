/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/job_result.h"

#include "mli_mov_api.h"
#include "proto/json/members.h"

void job_result_finish(struct job_result *result)
{
    tensor_desc_finish(&result->dst);
    *result = (struct job_result){0};
}

static void write_dst(struct jsonw *w, const struct tensor_desc *dst)
{
    jsonw_object_begin(w, "dst");
    tensor_desc_write(w, dst);
    jsonw_object_end(w);
}

void job_result_write(struct jsonw *w, const char *key, const struct job_result *result)
{
    jsonw_object_begin(w, key);
    if (result->job != 0)
        jsonw_uint(w, "job", result->job);
    if (result->has_dst)
        write_dst(w, &result->dst);
    jsonw_object_begin(w, "cost");
    jsonw_uint(w, "bytes", result->bytes);
    jsonw_uint(w, "channels", result->channels);
    jsonw_string(w, "engine", result->engine);
    jsonw_uint(w, "ns_queued", result->ns_queued);
    jsonw_uint(w, "ns_moving", result->ns_moving);
    jsonw_object_end(w);
    jsonw_object_end(w);
}

static int read_cost(const struct json *cost, struct job_result *result)
{
    struct json channels = json_member(cost, "channels");
    int64_t number;

    if (json_object(cost, NULL) < 0 || member_u64(cost, "bytes", &result->bytes) < 0 ||
        json_int(&channels, 0, MLI_MOV_MAX_CHANNELS, &number) < 0 ||
        member_u64(cost, "ns_queued", &result->ns_queued) < 0 ||
        member_u64(cost, "ns_moving", &result->ns_moving) < 0)
        return -1;
    result->channels = (uint32_t)number;
    return member_text(cost, "engine", result->engine, sizeof result->engine);
}

static int read_dst(const struct json *dst, struct tensor_desc *desc)
{
    if (json_object(dst, NULL) < 0 || member_require(dst, "type", "a string is required") < 0 ||
        member_require(dst, "shape", "an array is required") < 0)
        return -1;
    return tensor_desc_read(desc, dst);
}

static int read_result(const struct json *value, struct job_result *result)
{
    struct json dst = json_member(value, "dst"), cost = json_member(value, "cost");
    int64_t job = 0;

    if (json_object(value, NULL) < 0 || optional_int(value, "job", 1, MEMBER_MAX, &job) < 0)
        return -1;
    result->job = (uint64_t)job;
    result->has_dst = json_present(&dst);
    if (result->has_dst && read_dst(&dst, &result->dst) < 0)
        return -1;
    return read_cost(&cost, result);
}

int job_result_read(const struct json *value, struct job_result *result)
{
    *result = (struct job_result){0};
    if (read_result(value, result) == 0)
        return 0;
    job_result_finish(result);
    return -1;
}

void job_prepared_finish(struct job_prepared *prepared)
{
    tensor_desc_finish(&prepared->dst);
    *prepared = (struct job_prepared){0};
}

void job_prepared_write_members(struct jsonw *w, const struct job_prepared *prepared)
{
    jsonw_uint(w, "prepared", prepared->prepared);
    jsonw_uint(w, "bytes", prepared->bytes);
    write_dst(w, &prepared->dst);
}

int job_prepared_read(const struct json *value, struct job_prepared *prepared)
{
    struct json number = json_member(value, "prepared"), dst = json_member(value, "dst");
    int64_t read;

    *prepared = (struct job_prepared){0};
    if (json_object(value, NULL) < 0 || json_int(&number, 1, UINT32_MAX, &read) < 0 ||
        member_u64(value, "bytes", &prepared->bytes) < 0 || read_dst(&dst, &prepared->dst) < 0) {
        job_prepared_finish(prepared);
        return -1;
    }
    prepared->prepared = (uint32_t)read;
    return 0;
}
