/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/job.h"

#include <stdlib.h>
#include <string.h>

#include "proto/file/expectation.h"
#include "proto/wire/job_cfg.h"

#define FORMAT_WORD(name, word) word,
const char *const file_format_words[] = {FILE_FORMAT_TABLE(FORMAT_WORD) NULL};
#undef FORMAT_WORD

const char *file_format_word(enum file_format format)
{
    return file_format_words[format - 1];
}

enum file_format file_format_from_word(const char *word)
{
    for (unsigned i = 0; file_format_words[i]; i++) {
        if (strcmp(file_format_words[i], word) == 0)
            return (enum file_format)(i + 1);
    }
    return FILE_FORMAT_AUTO;
}

bool file_format_is_archive(enum file_format format)
{
    return format == FILE_FORMAT_NPZ || format == FILE_FORMAT_SAFETENSORS;
}

enum file_format file_format_of_name(const char *file)
{
    const char *dot = strrchr(file, '.');
    enum file_format format = dot ? file_format_from_word(dot + 1) : FILE_FORMAT_AUTO;

    return format != FILE_FORMAT_AUTO ? format : FILE_FORMAT_RAW;
}

enum file_format tensor_ref_format(const struct tensor_ref *ref)
{
    if (ref->format != FILE_FORMAT_AUTO)
        return ref->format;
    return ref->file ? file_format_of_name(ref->file) : FILE_FORMAT_RAW;
}

void tensor_ref_finish(struct tensor_ref *ref)
{
    free(ref->file);
    free(ref->tensor);
    free(ref->params);
    tensor_desc_finish(&ref->desc);
    *ref = (struct tensor_ref){0};
}

void job_init(struct job *job)
{
    *job = (struct job){.channels = 1};
    mli_mov_cfg_for_copy(&job->cfg);
}

void job_finish(struct job *job)
{
    free(job->name);
    free(job->slice);
    for (size_t i = 0; i < job->after_count; i++)
        free(job->after[i]);
    free(job->after);
    job_refs_finish(&job->after_refs);
    tensor_ref_finish(&job->src);
    tensor_ref_finish(&job->dst);
    expectation_finish(&job->expect);
    job_init(job);
}

void job_list_finish(struct job_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        job_finish(&list->jobs[i]);
    free(list->jobs);
    *list = (struct job_list){0};
}

int job_check_rank(const struct job *job, uint32_t rank, struct fault *fault)
{
    const struct tensor_desc *dst = &job->dst.desc;

    if (job_cfg_check(job, rank, fault) < 0)
        return -1;
    if (rank == 0)
        return 0;
    if (dst->rank != 0 && dst->rank != rank)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst/shape",
                         "dst.shape: %u entries given, the source has %u dimensions", dst->rank,
                         rank);
    if (dst->has_strides && dst->stride_count != 0 && dst->stride_count != rank)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst/strides",
                         "dst.strides: %u entries given, the source has %u dimensions",
                         dst->stride_count, rank);
    return 0;
}
