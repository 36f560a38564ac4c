/* SPDX-License-Identifier: BSD-3-Clause */
/* struct job -> a job file's object. */
#include "proto/file/expectation.h"
#include "proto/wire/job_read.h"

void job_write_place(struct jsonw *w, const struct tensor_ref *ref)
{
    if (ref->file)
        jsonw_string(w, "file", ref->file);
    if (ref->format != FILE_FORMAT_AUTO)
        jsonw_string(w, "format", file_format_word(ref->format));
    if (ref->tensor)
        jsonw_string(w, "tensor", ref->tensor);
    if (ref->update)
        jsonw_bool(w, "update", true);
    if (ref->params)
        jsonw_string(w, "params", ref->params);
}

/* Only what job_file_parse() takes: only a raw file does not tell shape and strides
 * itself. */
static void write_tensor(struct jsonw *w, const char *key, const struct tensor_ref *ref,
                         struct tensor_desc shown)
{
    jsonw_object_begin(w, key);
    job_write_place(w, ref);
    if (tensor_ref_format(ref) != FILE_FORMAT_RAW) {
        shown.rank = 0;
        shown.has_strides = false;
    } else if (ref->offset != 0) {
        jsonw_uint(w, "offset", ref->offset);
    }
    tensor_desc_write(w, &shown);
    jsonw_object_end(w);
}

void job_file_write(struct jsonw *w, const char *key, const struct job *job)
{
    struct tensor_desc dst = job->dst.desc;

    jsonw_object_begin(w, key);
    job_write_common(w, job->name, job);
    if (job->slice)
        jsonw_string(w, "slice", job->slice);
    write_tensor(w, "src", &job->src, job->src.desc);
    dst.has_type = false; /* the source's */
    if (!job->dst.update) {
        /* What a new tensor looks like is the move's result; only its strides are a choice. */
        if (dst.stride_count == 0)
            dst.stride_count = dst.rank;
        dst.rank = 0;
        dst.quant = (struct quant){0};
    }
    write_tensor(w, "dst", &job->dst, dst);
    if (job->after_count > 0) {
        jsonw_array_begin(w, "after");
        for (size_t i = 0; i < job->after_count; i++)
            jsonw_string(w, NULL, job->after[i]);
        jsonw_array_end(w);
    }
    expectation_write(w, "expect", &job->expect);
    jsonw_object_end(w);
}
