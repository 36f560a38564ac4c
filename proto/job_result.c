/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "job.h"
#include "job_read.h"

static const int64_t number_max = (INT64_C(1) << 53) - 1;

void job_result_finish(struct job_result *result)
{
    tensor_desc_finish(&result->dst);
    *result = (struct job_result){0};
}

void job_result_write(struct jsonw *w, const char *key, const struct job_result *result)
{
    jsonw_object_begin(w, key);
    jsonw_object_begin(w, "dst");
    tensor_desc_write(w, &result->dst);
    jsonw_object_end(w);
    jsonw_object_begin(w, "cost");
    jsonw_uint(w, "bytes", result->bytes);
    jsonw_uint(w, "channels", result->channels);
    jsonw_string(w, "engine", result->engine);
    jsonw_uint(w, "ns_queued", result->ns_queued);
    jsonw_uint(w, "ns_moving", result->ns_moving);
    jsonw_object_end(w);
    jsonw_object_end(w);
}

static int read_number(const struct json *object, const char *key, int64_t max, int64_t *number)
{
    struct json value = json_member(object, key);

    return json_int(&value, 0, max, number);
}

static int read_cost(const struct json *cost, struct job_result *result)
{
    static const char *const keys[] = {"bytes",     "channels",  "engine",
                                       "ns_queued", "ns_moving", NULL};
    struct json engine = json_member(cost, "engine");
    int64_t bytes, channels, ns_queued, ns_moving;
    const char *name;

    if (json_object(cost, keys) < 0 || read_number(cost, "bytes", number_max, &bytes) < 0 ||
        read_number(cost, "channels", MLI_MOV_MAX_CHANNELS, &channels) < 0 ||
        read_number(cost, "ns_queued", number_max, &ns_queued) < 0 ||
        read_number(cost, "ns_moving", number_max, &ns_moving) < 0 ||
        json_text(&engine, sizeof result->engine - 1, &name) < 0)
        return -1;
    result->bytes = (uint64_t)bytes;
    result->channels = (uint32_t)channels;
    result->ns_queued = (uint64_t)ns_queued;
    result->ns_moving = (uint64_t)ns_moving;
    snprintf(result->engine, sizeof result->engine, "%s", name);
    return 0;
}

static int read_dst(const struct json *dst, struct tensor_desc *desc)
{
    static const char *const keys[] = {TENSOR_DESC_KEYS, NULL};

    if (json_object(dst, keys) < 0 || job_require(dst, "type", "a string is required") < 0 ||
        job_require(dst, "shape", "an array is required") < 0)
        return -1;
    return tensor_desc_read(desc, dst);
}

int job_result_read(const struct json *value, struct job_result *result)
{
    static const char *const keys[] = {"dst", "cost", NULL};
    struct json dst = json_member(value, "dst"), cost = json_member(value, "cost");

    *result = (struct job_result){0};
    if (json_object(value, keys) < 0 || read_dst(&dst, &result->dst) < 0 ||
        read_cost(&cost, result) < 0) {
        job_result_finish(result);
        return -1;
    }
    return 0;
}
