/* SPDX-License-Identifier: BSD-3-Clause */
/* A job as it travels: the "params" of job.submit. */
#include "job_read.h"

static const char *const job_keys[] = {JOB_COMMON_KEYS, "src", "dst", NULL};
static const char *const src_keys[] = {"fd", "offset", TENSOR_DESC_KEYS, NULL};
static const char *const dst_keys[] = {"fd",        "offset", "shape",      "strides",
                                       "axis",      "scale",  "zero_point", "scale_frac_bits",
                                       "frac_bits", NULL};

static int read_fd(struct tensor_ref *ref, const struct json *object, uint32_t fds)
{
    struct json value = json_member(object, "fd");
    int64_t number;

    if (json_int(&value, 0, UINT32_MAX, &number) < 0)
        return -1;
    if (number >= fds)
        return json_complain(&value, "%u given, the message carries %u descriptors (from 0)",
                             (unsigned)number, fds);
    ref->fd = (uint32_t)number;
    ref->where = TENSOR_IN_FD;
    return job_read_offset(object, &ref->offset);
}

static int read_src(struct tensor_ref *src, const struct json *object, uint32_t fds)
{
    if (json_object(object, src_keys) < 0 || read_fd(src, object, fds) < 0 ||
        job_require(object, "shape", "an array is required") < 0 ||
        job_require(object, "type", "a string is required") < 0)
        return -1;
    return tensor_desc_read(&src->desc, object);
}

static int read_dst(struct job *job, const struct json *object, uint32_t fds)
{
    if (json_object(object, dst_keys) < 0 || read_fd(&job->dst, object, fds) < 0 ||
        tensor_desc_read(&job->dst.desc, object) < 0)
        return -1;
    return job_check_dst(job, object);
}

static int read_job(const struct json *params, uint32_t fds, struct job *job)
{
    struct json src, dst;

    if (json_object(params, job_keys) < 0 || job_read_common(job, params) < 0 ||
        job_require(params, "op", "\"mov\" or \"permute\" is required") < 0)
        return -1;
    src = json_member(params, "src");
    dst = json_member(params, "dst");
    if (read_src(&job->src, &src, fds) < 0 || read_dst(job, &dst, fds) < 0)
        return -1;
    return job_check_rank(job, job->src.desc.rank, params->fault);
}

int job_wire_read(const struct json *params, uint32_t fds, struct job *job)
{
    job_init(job);
    if (read_job(params, fds, job) < 0) {
        job_finish(job);
        return -1;
    }
    return 0;
}

static void write_tensor(struct jsonw *w, const char *key, const struct tensor_ref *ref,
                         bool with_type)
{
    struct tensor_desc shown = ref->desc;

    shown.has_type = shown.has_type && with_type;
    jsonw_object_begin(w, key);
    jsonw_uint(w, "fd", ref->fd);
    if (ref->offset != 0)
        jsonw_uint(w, "offset", ref->offset);
    tensor_desc_write(w, &shown);
    jsonw_object_end(w);
}

void job_wire_write(struct jsonw *w, const char *key, const struct job *job)
{
    jsonw_object_begin(w, key);
    job_write_common(w, job);
    write_tensor(w, "src", &job->src, true);
    write_tensor(w, "dst", &job->dst, false);
    jsonw_object_end(w);
}
