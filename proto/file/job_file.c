/* SPDX-License-Identifier: BSD-3-Clause */
/* Job files: the forms a file may have, defaults, and what each tensor may say of itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/bounds.h"
#include "proto/file/expectation.h"
#include "proto/file/job_names.h"
#include "proto/file/slice.h"
#include "proto/wire/job_read.h"

#define JOB_KEYS JOB_COMMON_KEYS, "slice", "src", "dst", "after", "expect"

static const char *const job_keys[] = {JOB_KEYS, NULL};
static const char *const root_job_keys[] = {JSON_SCHEMA_KEY, JOB_KEYS, NULL};
static const char *const default_keys[] = {"op",         "cfg", "slice", "channels", "priority",
                                           "timeout_ms", "src", "dst",   "expect",   NULL};
static const char *const src_keys[] = {"file",   "format",         "tensor",
                                       "offset", TENSOR_DESC_KEYS, NULL};
static const char *const dst_keys[] = {
    "file", "update", "params",     "format",          "offset",    "shape", "strides",
    "axis", "scale",  "zero_point", "scale_frac_bits", "frac_bits", NULL};

/* One tensor */

static int read_format(struct tensor_ref *ref, const struct json *object)
{
    struct json value = json_member(object, "format");
    size_t index;

    if (!json_present(&value))
        return 0;
    if (json_choice(&value, file_format_words, &index) < 0)
        return -1;
    ref->format = (enum file_format)(index + 1);
    return 0;
}

int job_read_place(struct tensor_ref *ref, const struct json *object)
{
    struct json file = json_member(object, "file");
    struct json tensor = json_member(object, "tensor");
    struct json update = json_member(object, "update");
    struct json parameters = json_member(object, "params");

    if (json_present(&file) && job_read_string(&file, JOB_PATH_MAX, &ref->file) < 0)
        return -1;
    if (json_present(&tensor) && job_read_string(&tensor, JOB_TENSOR_MAX, &ref->tensor) < 0)
        return -1;
    if (json_present(&update) && json_bool(&update, &ref->update) < 0)
        return -1;
    if (json_present(&parameters) && job_read_string(&parameters, JOB_PATH_MAX, &ref->params) < 0)
        return -1;
    if (read_format(ref, object) < 0)
        return -1;
    return job_read_offset(object, &ref->offset);
}

/* Refuses the members named; `why` is the sentence. */
static int forbid(const struct json *object, const char *const *keys, const char *why)
{
    for (; *keys; keys++) {
        struct json member = json_member(object, *keys);

        if (json_present(&member))
            return json_complain(&member, "%s", why);
    }
    return 0;
}

static const char *const told_by_npy[] = {"shape", "strides", "offset", NULL};
static const char *const npy_says = "a .npy file says it itself, do not give it here";
static const char *const archive_says = "the archive says it itself, do not give it here";

int job_check_tensor(const struct tensor_ref *ref, const struct json *object)
{
    static const char *const tensor[] = {"tensor", NULL};

    return file_format_is_archive(tensor_ref_format(ref))
               ? 0
               : forbid(object, tensor,
                        "names one of a .npz or .safetensors file, this is neither");
}

static int read_src(struct tensor_ref *src, const struct json *object)
{
    if (json_object(object, src_keys) < 0 || job_read_place(src, object) < 0 ||
        job_require(object, "file", "the tensor's file is required") < 0)
        return -1;
    src->where = TENSOR_IN_FILE;
    if (job_check_tensor(src, object) < 0)
        return -1;
    if (tensor_ref_format(src) != FILE_FORMAT_RAW) {
        bool archive = file_format_is_archive(tensor_ref_format(src));

        if (forbid(object, told_by_npy, archive ? archive_says : npy_says) < 0)
            return -1;
    } else if (job_require(object, "shape", "a raw file does not say it") < 0 ||
               job_require(object, "type", "a raw file does not say it") < 0) {
        return -1;
    }
    return tensor_desc_read(&src->desc, object);
}

/* Archives are read only. The name is at fault where no format was given. */
static int check_dst_format(const struct tensor_ref *dst, const struct json *object)
{
    struct json given = json_member(object, dst->format != FILE_FORMAT_AUTO ? "format" : "file");
    enum file_format format = tensor_ref_format(dst);

    if (!file_format_is_archive(format))
        return 0;
    return json_complain(&given, "a .%s file is read, not written; write a .npy or a raw file",
                         file_format_word(format));
}

static int check_dst_members(const struct tensor_ref *dst, const struct json *object)
{
    static const char *const of_existing[] = {"shape",      "offset",          "axis",      "scale",
                                              "zero_point", "scale_frac_bits", "frac_bits", NULL};
    bool npy = tensor_ref_format(dst) == FILE_FORMAT_NPY;

    if (npy && dst->update)
        return forbid(object, told_by_npy, npy_says);
    if (!dst->update && forbid(object, of_existing,
                               "describes an existing tensor, give it with \"update\": true") < 0)
        return -1;
    if (npy) {
        static const char *const strides[] = {"strides", NULL};
        return forbid(object, strides, "a .npy file is always packed");
    }
    return 0;
}

static int read_dst(struct job *job, const struct json *object)
{
    struct tensor_ref *dst = &job->dst;

    if (json_object(object, dst_keys) < 0 || job_read_place(dst, object) < 0 ||
        job_require(object, "file", "the tensor's file is required") < 0 ||
        check_dst_format(dst, object) < 0 || check_dst_members(dst, object) < 0 ||
        tensor_desc_read(&dst->desc, object) < 0)
        return -1;
    dst->where = TENSOR_IN_FILE;
    return job_check_dst(job, object);
}

/* One job */

/* A window, told as NumPy does. What it selects is known once the tensor is. */
static int read_slice(struct job *job, const struct json *object)
{
    const struct cfg_lengths *lengths = &job->lengths;
    struct json value = json_member(object, "slice");
    struct fault why;
    struct slice slice;

    if (!json_present(&value))
        return 0;
    if (job_read_string(&value, SLICE_TEXT_MAX, &job->slice) < 0)
        return -1;
    if (job->op == JOB_OP_PERMUTE)
        return json_complain(&value, "a permute takes cfg.perm_dim only; use \"op\": \"mov\"");
    if (lengths->offset || lengths->size || lengths->sub_sample_step)
        return json_complain(&value, "it stands for cfg.%s, which is given too",
                             lengths->offset ? "offset"
                             : lengths->size ? "size"
                                             : "sub_sample_step");
    return slice_parse(job->slice, &slice, &why) < 0 ? json_complain(&value, "%s", why.text) : 0;
}

static int read_after(struct job *job, const struct json *object)
{
    struct json after = json_member(object, "after"), item = {0};
    size_t count;

    if (!json_present(&after))
        return 0;
    if (json_array(&after, &count) < 0)
        return -1;
    if (count > JOB_AFTER_MAX)
        return json_complain(&after, "%zu names given, at most %d allowed", count, JOB_AFTER_MAX);
    if (count == 0)
        return 0;
    job->after = calloc(count, sizeof *job->after);
    if (!job->after)
        return fault_set(object->fault, FAULT_INTERNAL, NULL, "no memory for %zu names", count);
    job->after_count = count;
    while (json_next(&after, &item)) {
        if (job_read_name(&item, &job->after[item.index]) < 0)
            return -1;
    }
    return 0;
}

static int read_job(struct job *job, const struct json *object)
{
    struct json src, dst, expect, src_defaults, dst_defaults;

    json_pointer(object, job->pointer, sizeof job->pointer);
    if (json_object(object, object->parent ? job_keys : root_job_keys) < 0 ||
        json_check_schema(object) < 0 || job_read_common(job, object) < 0 ||
        job_require(object, "op", "\"mov\" or \"permute\" is required") < 0)
        return -1;
    if (read_slice(job, object) < 0)
        return -1;
    src = json_member_merged(object, "src", &src_defaults);
    dst = json_member_merged(object, "dst", &dst_defaults);
    expect = json_member(object, "expect");
    if (read_src(&job->src, &src) < 0 || read_dst(job, &dst) < 0 ||
        expectation_read(&job->expect, &expect) < 0 || read_after(job, object) < 0)
        return -1;
    if (job->expect.kind == EXPECT_ERROR)
        return 0; /* ranks that do not agree may be what is expected: whoever runs it looks again */
    if (job_check_rank(job, job->src.desc.rank, object->fault) < 0) {
        fault_prefix(object->fault, job->pointer);
        return -1;
    }
    return 0;
}

/* Each member by itself: what belongs together is only known where a job uses it. */
static int check_defaults(const struct json *object)
{
    static const char *const keys[] = {"src", "dst"};
    static const char *const *const allowed[] = {src_keys, dst_keys};
    struct json expect = json_member(object, "expect");
    struct job scratch;
    int status = -1;

    job_init(&scratch);
    if (json_object(object, default_keys) < 0 || job_read_common(&scratch, object) < 0 ||
        read_slice(&scratch, object) < 0)
        goto out;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct json tensor = json_member(object, keys[i]);

        if (json_present(&tensor) &&
            (json_object(&tensor, allowed[i]) < 0 || job_read_place(&scratch.src, &tensor) < 0 ||
             tensor_desc_check_members(&tensor) < 0))
            goto out;
    }
    status = expectation_check_members(&expect);
out:
    job_finish(&scratch);
    return status;
}

/* The file */

/* A job's fault may lie in the defaults; then the sentence says which job they do not suit. */
static void name_job(struct fault *fault, const struct job *job)
{
    static const char defaults[] = "/defaults";

    if (fault->has_pointer && strncmp(fault->pointer, defaults, sizeof defaults - 1) == 0)
        fault_set(fault, fault->code, fault->pointer, "%s (for the job %s)", fault->text,
                  job->pointer);
}

/* Entries are cheap to write once as a default and dear in a million jobs. */
static int count_entries(const struct job *job, size_t *entries, struct fault *fault)
{
    *entries += job->src.desc.quant.count + job->dst.desc.quant.count;
    if (*entries > JOB_FILE_VALUES_MAX)
        return fault_set(fault, FAULT_LIMIT, job->pointer,
                         "the jobs up to this one have more than %d quantisation parameters",
                         JOB_FILE_VALUES_MAX);
    return 0;
}

static int read_jobs(struct job_list *list, const struct json *array, const struct json *defaults)
{
    struct json item = {0};
    size_t count, entries = 0;

    if (json_array(array, &count) < 0)
        return -1;
    if (count == 0)
        return json_complain(array, "at least one job is required");
    if (count > JOB_FILE_JOBS_MAX)
        return json_complain(array, "%zu jobs given, at most %d allowed", count, JOB_FILE_JOBS_MAX);
    list->jobs = calloc(count, sizeof *list->jobs);
    if (!list->jobs)
        return fault_set(array->fault, FAULT_INTERNAL, NULL, "no memory for %zu jobs", count);
    while (json_next(array, &item)) {
        struct job *job = &list->jobs[list->count++];

        job_init(job);
        item.base = true;
        item.defaults = defaults;
        if (read_job(job, &item) < 0) {
            name_job(array->fault, job);
            return -1;
        }
        if (count_entries(job, &entries, array->fault) < 0)
            return -1;
    }
    return 0;
}

static int read_single(struct job_list *list, const struct json *object)
{
    list->jobs = calloc(1, sizeof *list->jobs);
    if (!list->jobs)
        return fault_set(object->fault, FAULT_INTERNAL, NULL, "no memory for a job");
    list->count = 1;
    job_init(list->jobs);
    return read_job(list->jobs, object);
}

static int read_file(struct job_list *list, const struct json *root)
{
    static const char *const keys[] = {JSON_SCHEMA_KEY, "defaults", "jobs", NULL};
    struct json defaults = json_member(root, "defaults"), jobs = json_member(root, "jobs");

    if (json_is_array(root))
        return read_jobs(list, root, NULL);
    if (!json_present(&defaults) && !json_present(&jobs))
        return read_single(list, root);
    if (json_object(root, keys) < 0 || json_check_schema(root) < 0)
        return -1;
    if (!json_present(&defaults))
        return read_jobs(list, &jobs, NULL);
    defaults.base = true;
    if (check_defaults(&defaults) < 0)
        return -1;
    return read_jobs(list, &jobs, &defaults);
}

int job_file_parse(const char *text, size_t length, struct job_list *list, struct fault *fault)
{
    struct json root;
    int status;

    *list = (struct job_list){0};
    if (json_parse(text, length, &prescan_job_file_limits, &root, fault) < 0)
        return -1;
    status = read_file(list, &root);
    json_free(&root);
    if (status == 0)
        status = job_names_check(list, fault);
    if (status < 0)
        job_list_finish(list);
    return status;
}
