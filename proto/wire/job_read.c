/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/job_read.h"

#include <stdlib.h>
#include <string.h>

#include "proto/bounds.h"
#include "proto/wire/job_cfg.h"

static const char *const op_names[] = {"mov", "permute", NULL};
static const enum job_op ops[] = {JOB_OP_MOV, JOB_OP_PERMUTE};

static int read_op(struct job *job, const struct json *object)
{
    struct json op = json_member(object, "op");
    size_t index;

    if (!json_present(&op))
        return 0;
    if (json_choice(&op, op_names, &index) < 0)
        return -1;
    job->op = ops[index];
    return 0;
}

int job_require(const struct json *object, const char *key, const char *why)
{
    struct json member = json_member(object, key);

    return json_present(&member) ? 0 : json_complain(&member, "missing, %s", why);
}

int job_check_dst(const struct job *job, const struct json *object)
{
    struct tensor_desc typed = job->dst.desc;

    typed.has_type = job->src.desc.has_type;
    typed.type = job->src.desc.type;
    return tensor_desc_check_at(&typed, object);
}

int job_read_string(const struct json *value, size_t max, char **out)
{
    const char *text;

    if (json_string(value, max, &text) < 0)
        return -1;
    free(*out);
    *out = strdup(text);
    return *out ? 0 : fault_set(value->fault, FAULT_INTERNAL, NULL, "no memory for a string");
}

int job_read_name(const struct json *value, char **name)
{
    static const char legal[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-";
    const char *text;

    if (json_string(value, PROTO_NAME_MAX, &text) < 0)
        return -1;
    if (text[strspn(text, legal)] != '\0')
        return json_complain(value, "a name is made of A-Z a-z 0-9 _ . : - only");
    return job_read_string(value, PROTO_NAME_MAX, name);
}

bool job_is_wire_name(const char *name)
{
    return name[strspn(name, "0123456789")] != '\0';
}

int job_complain_digits(const struct json *value)
{
    return json_complain(value, "a name is not made of digits only: a job's number has no quotes");
}

int job_read_wire_name(const struct json *value, char **name)
{
    if (job_read_name(value, name) < 0)
        return -1;
    if (*name && job_is_wire_name(*name))
        return 0;
    free(*name);
    *name = NULL;
    return job_complain_digits(value);
}

int job_read_number(const struct json *object, const char *key, int64_t min, int64_t max,
                    int64_t *number)
{
    struct json value = json_member(object, key);

    return json_present(&value) ? json_int(&value, min, max, number) : 0;
}

int job_read_offset(const struct json *object, uint64_t *offset)
{
    int64_t number = 0;

    if (job_read_number(object, "offset", 0, (INT64_C(1) << 53) - 1, &number) < 0)
        return -1;
    *offset = (uint64_t)number;
    return 0;
}

int job_read_common(struct job *job, const struct json *object)
{
    struct json defaults, cfg = json_member_merged(object, "cfg", &defaults);
    struct json name = json_member(object, "name");
    int64_t channels = job->channels, priority = job->priority, timeout_ms = job->timeout_ms;

    if (read_op(job, object) < 0 || job_cfg_read(job, &cfg) < 0)
        return -1;
    if (json_present(&name) && job_read_name(&name, &job->name) < 0)
        return -1;
    if (job_read_number(object, "channels", 1, MLI_MOV_MAX_CHANNELS, &channels) < 0 ||
        job_read_number(object, "priority", -1, 1, &priority) < 0 ||
        job_read_number(object, "timeout_ms", 0, JOB_TIMEOUT_MAX_MS, &timeout_ms) < 0)
        return -1;
    job->channels = (uint32_t)channels;
    job->priority = (int32_t)priority;
    job->timeout_ms = (uint32_t)timeout_ms;
    return 0;
}

void job_write_common(struct jsonw *w, const char *name, const struct job *job)
{
    for (size_t i = 0; op_names[i]; i++) {
        if (ops[i] == job->op)
            jsonw_string(w, "op", op_names[i]);
    }
    if (name)
        jsonw_string(w, "name", name);
    job_cfg_write(w, job);
    if (job->channels != 1)
        jsonw_uint(w, "channels", job->channels);
    if (job->priority != 0)
        jsonw_int(w, "priority", job->priority);
    if (job->timeout_ms != 0)
        jsonw_uint(w, "timeout_ms", job->timeout_ms);
}
