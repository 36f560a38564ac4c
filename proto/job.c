/* SPDX-License-Identifier: BSD-3-Clause */
#include "job.h"

#include <stdlib.h>
#include <string.h>

#include "job_cfg.h"

enum file_format tensor_ref_format(const struct tensor_ref *ref)
{
    static const char ending[] = ".npy";
    size_t length = ref->file ? strlen(ref->file) : 0, tail = sizeof ending - 1;

    if (ref->format != FILE_FORMAT_AUTO)
        return ref->format;
    return length >= tail && strcmp(ref->file + length - tail, ending) == 0 ? FILE_FORMAT_NPY
                                                                            : FILE_FORMAT_RAW;
}

static void tensor_ref_finish(struct tensor_ref *ref)
{
    free(ref->file);
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
    for (size_t i = 0; i < job->after_count; i++)
        free(job->after[i]);
    free(job->after);
    job_refs_finish(&job->after_refs);
    tensor_ref_finish(&job->src);
    tensor_ref_finish(&job->dst);
    tensor_ref_finish(&job->expect);
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
