/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/job.h"

#include "proto/json/members.h"
#include "proto/wire/wire_limits.h"

void job_init(struct job *job)
{
    *job = (struct job){0};
    job_common_init(&job->common);
}

void job_finish(struct job *job)
{
    job_common_finish(&job->common);
    job_refs_finish(&job->after);
    tensor_desc_finish(&job->src.desc);
    tensor_desc_finish(&job->dst.desc);
    job_init(job);
}

static const char *const submit_keys[] = {JOB_COMMON_KEYS, "src", "dst", "after", "detach", NULL};
static const char *const prepare_keys[] = {"op",       "name", "cfg", "channels",
                                           "priority", "src",  "dst", NULL};
static const char *const src_keys[] = {"fd", "buffer", "offset", "memory", TENSOR_DESC_KEYS, NULL};
static const char *const dst_keys[] = {"fd",         "buffer",          "offset",    "memory",
                                       "shape",      "strides",         "axis",      "scale",
                                       "zero_point", "scale_frac_bits", "frac_bits", NULL};

static int read_fd(struct tensor_ref *ref, const struct json *value, uint32_t fds)
{
    int64_t number;

    if (json_int(value, 0, UINT32_MAX, &number) < 0)
        return -1;
    if (number >= fds)
        return json_complain(value, "%u given, but the message carries %u descriptors (from 0)",
                             (unsigned)number, fds);
    ref->fd = (uint32_t)number;
    ref->where = TENSOR_IN_FD;
    return 0;
}

static int read_buffer(struct tensor_ref *ref, const struct json *value)
{
    int64_t number;

    if (json_int(value, 1, UINT32_MAX, &number) < 0)
        return -1;
    ref->buffer = (uint32_t)number;
    ref->where = TENSOR_IN_BUFFER;
    return 0;
}

static int read_where(struct tensor_ref *ref, const struct json *object, uint32_t fds)
{
    struct json fd = json_member(object, "fd"), buffer = json_member(object, "buffer");
    struct json memory = json_member(object, "memory");
    int status;

    if (json_present(&fd) && json_present(&buffer))
        return json_complain(&buffer, "given beside \"fd\"; only one of the two is allowed");
    if (!json_present(&fd) && !json_present(&buffer))
        return json_complain(&fd, "missing; a descriptor or a \"buffer\" is required");
    if (json_present(&buffer) && json_present(&memory))
        return json_complain(&memory, "given beside \"buffer\"; a buffer has its own memory");
    status = json_present(&fd) ? read_fd(ref, &fd, fds) : read_buffer(ref, &buffer);
    if (status < 0 || memory_name_read(object, ref->memory) < 0)
        return -1;
    return optional_u64(object, "offset", &ref->offset);
}

static int read_src(struct tensor_ref *src, const struct json *object, uint32_t fds)
{
    if (json_object(object, src_keys) < 0 || read_where(src, object, fds) < 0 ||
        member_require(object, "shape", "an array is required") < 0 ||
        member_require(object, "type", "a string is required") < 0)
        return -1;
    return tensor_desc_read(&src->desc, object);
}

static int read_dst(struct job *job, const struct json *object, uint32_t fds)
{
    if (json_object(object, dst_keys) < 0 || read_where(&job->dst, object, fds) < 0 ||
        tensor_desc_read(&job->dst.desc, object) < 0)
        return -1;
    return job_check_dst(&job->src.desc, &job->dst.desc, object);
}

static int read_order(const struct json *params, struct job *job)
{
    struct json after = json_member(params, "after");

    return job_refs_read(&after, JOB_AFTER_MAX, &job->after) < 0
               ? -1
               : optional_bool(params, "detach", &job->detach);
}

static int read_job(const struct json *params, const char *const *keys, uint32_t fds,
                    struct job *job)
{
    struct json src, dst, name = json_member(params, "name");

    if (json_object(params, keys) < 0 || job_common_read(&job->common, params) < 0 ||
        member_require(params, "op", "\"mov\" or \"permute\" is required") < 0)
        return -1;
    if (job->common.name && !job_name_is_wire(job->common.name))
        return job_name_complain_digits(&name);
    src = json_member(params, "src");
    dst = json_member(params, "dst");
    if (read_src(&job->src, &src, fds) < 0 || read_dst(job, &dst, fds) < 0 ||
        read_order(params, job) < 0)
        return -1;
    return job_check_rank(&job->common, &job->dst.desc, job->src.desc.rank, params->fault);
}

static int read_params(const struct json *params, const char *const *keys, uint32_t fds,
                       struct job *job)
{
    job_init(job);
    if (read_job(params, keys, fds, job) == 0)
        return 0;
    job_finish(job);
    return -1;
}

int job_wire_read(const struct json *params, uint32_t fds, struct job *job)
{
    return read_params(params, submit_keys, fds, job);
}

int job_wire_read_prepare(const struct json *params, uint32_t fds, struct job *job)
{
    return read_params(params, prepare_keys, fds, job);
}

static void write_tensor(struct jsonw *w, const char *key, const struct tensor_ref *ref,
                         bool with_type)
{
    struct tensor_desc shown = ref->desc;

    shown.has_type = shown.has_type && with_type;
    jsonw_object_begin(w, key);
    if (ref->where == TENSOR_IN_BUFFER)
        jsonw_uint(w, "buffer", ref->buffer);
    else
        jsonw_uint(w, "fd", ref->fd);
    if (ref->offset != 0)
        jsonw_uint(w, "offset", ref->offset);
    if (ref->memory[0] != '\0')
        jsonw_string(w, "memory", ref->memory);
    tensor_desc_write(w, &shown);
    jsonw_object_end(w);
}

void job_wire_write_members(struct jsonw *w, const struct job *job)
{
    job_common_write(
        w, job->common.name && job_name_is_wire(job->common.name) ? job->common.name : NULL,
        &job->common);
    write_tensor(w, "src", &job->src, true);
    write_tensor(w, "dst", &job->dst, false);
    if (job->after.count > 0)
        job_refs_write(w, "after", &job->after);
    if (job->detach)
        jsonw_bool(w, "detach", true);
}

void job_wire_write(struct jsonw *w, const char *key, const struct job *job)
{
    jsonw_object_begin(w, key);
    job_wire_write_members(w, job);
    jsonw_object_end(w);
}
