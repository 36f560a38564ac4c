/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a job file. Writing the buffers and jobs of an accepted file and reading them again must
 * give an equal file.
 */
#include <string.h>

#include "proto/file/job_file.h"
#include "proto/file/slice.h"
#include "tests/fuzz/fuzz.h"

enum { INPUT_MAX = 8192 };

static void write_jobs(struct jsonw *w, const struct job_list *list)
{
    jsonw_object_begin(w, NULL);
    buffer_specs_write(w, list->buffers, list->buffer_count);
    jsonw_array_begin(w, "jobs");
    for (size_t i = 0; i < list->count; i++)
        job_file_write(w, NULL, &list->jobs[i]);
    jsonw_array_end(w);
    jsonw_object_end(w);
    FUZZ_ASSERT(jsonw_text(w));
}

/* Requires that a slice selects a window within the extents, or is refused. */
static void check_slice(const struct job_spec *job)
{
    static const int64_t extents[] = {1, 300, UINT32_MAX, INT64_C(1) << 33, 2, 1, 7, 4};
    struct slice_window windows[TENSOR_RANK_MAX];
    struct fault fault;
    struct slice slice;

    FUZZ_ASSERT(job->common.op == JOB_OP_MOV && !job->common.lengths.offset &&
                !job->common.lengths.size && !job->common.lengths.sub_sample_step);
    FUZZ_ASSERT(slice_parse(job->slice, &slice, &fault) == 0);
    for (uint32_t rank = 1; rank <= TENSOR_RANK_MAX; rank++) {
        if (slice_apply(&slice, rank, extents, windows, &fault) < 0) {
            fuzz_check_fault(&fault);
            continue;
        }
        for (uint32_t d = 0; d < rank; d++) {
            FUZZ_ASSERT(windows[d].size > 0 && windows[d].step > 0);
            FUZZ_ASSERT((int64_t)windows[d].offset + windows[d].size <= extents[d]);
        }
    }
}

static void check_expectation(const struct expectation *expect)
{
    bool file = expect->kind == EXPECT_FILE, error = expect->kind == EXPECT_ERROR;

    FUZZ_ASSERT(file == (expect->golden.file != NULL));
    FUZZ_ASSERT(error == (expect->error != NULL));
    FUZZ_ASSERT(!expect->pointer || (error && expect->pointer[0] == '/'));
}

/* A tensor is in a file or in a buffer of the job file. */
static void check_place(const struct tensor_spec *spec, const struct job_list *list)
{
    FUZZ_ASSERT(!spec->file != !spec->buffer);
    FUZZ_ASSERT(!spec->file || spec->file[0]);
    if (!spec->buffer)
        return;
    FUZZ_ASSERT(spec->buffer_index < list->buffer_count);
    FUZZ_ASSERT(strcmp(spec->buffer, list->buffers[spec->buffer_index].name) == 0);
    FUZZ_ASSERT(!spec->memory[0] && !spec->update && !spec->params && !spec->tensor);
}

static void check_buffer(const struct buffer_spec *buffer)
{
    FUZZ_ASSERT(buffer->name[0] && buffer->bytes >= 1);
    FUZZ_ASSERT(!buffer->has_address || buffer->memory[0]);
}

/* Checks the invariants of accepted jobs. */
static void check_job(const struct job_spec *job, const struct job_list *list)
{
    FUZZ_ASSERT(job->common.op == JOB_OP_MOV || job->common.op == JOB_OP_PERMUTE);
    check_place(&job->src, list);
    check_place(&job->dst, list);
    FUZZ_ASSERT(job->common.channels >= 1 && job->common.channels <= MLI_MOV_MAX_CHANNELS);
    FUZZ_ASSERT(job->common.priority >= -1 && job->common.priority <= 1);
    FUZZ_ASSERT(job->src.desc.rank <= TENSOR_RANK_MAX && job->dst.desc.rank <= TENSOR_RANK_MAX);
    FUZZ_ASSERT(!file_format_is_archive(tensor_spec_format(&job->dst)) && !job->dst.tensor);
    FUZZ_ASSERT(!job->src.tensor || file_format_is_archive(tensor_spec_format(&job->src)));
    FUZZ_ASSERT(tensor_spec_format(&job->src) != FILE_FORMAT_RAW ||
                (job->src.desc.rank > 0 && (job->src.desc.has_type || job->src.dtype)));
    FUZZ_ASSERT(job->dst.update || job->dst.buffer || job->dst.desc.rank > 0 ||
                job->dst.offset == 0);
    FUZZ_ASSERT(job->dst.buffer || tensor_spec_format(&job->dst) != FILE_FORMAT_NPY ||
                (job->dst.offset == 0 && !job->dst.desc.has_strides));
    FUZZ_ASSERT(!job->dst.part);
    for (uint32_t i = 0; i < TENSOR_RANK_MAX; i++) {
        FUZZ_ASSERT(job_cfg(&job->common, sub_sample_step, i) >= 1);
        FUZZ_ASSERT(job_cfg(&job->common, perm_dim, i) < TENSOR_RANK_MAX);
        FUZZ_ASSERT(job_cfg(&job->common, dst_mem_stride, i) >= 0);
    }
    if (job->slice)
        check_slice(job);
    check_expectation(&job->expect);
    if (job->src.desc.rank > 0) {
        mli_tensor tensor;
        struct fault fault;

        if (job->src.desc.rank <= MLI_MAX_RANK)
            tensor_desc_to_mli(&job->src.desc, &tensor);
        FUZZ_ASSERT(tensor_desc_check(&job->src.desc, &fault) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct job_list list;
    struct fault fault = {0};
    struct jsonw first, second;

    if (size > INPUT_MAX) /* larger files take long: every job copies the defaults */
        return 0;
    if (job_file_parse((const char *)data, size, &list, &fault) < 0) {
        fuzz_check_fault(&fault);
        FUZZ_ASSERT(list.count == 0 && !list.jobs && list.buffer_count == 0 && !list.buffers);
        return 0;
    }
    FUZZ_ASSERT(list.count >= 1);
    for (size_t i = 0; i < list.count; i++)
        check_job(&list.jobs[i], &list);
    for (size_t i = 0; i < list.buffer_count; i++)
        check_buffer(&list.buffers[i]);
    jsonw_init(&first);
    jsonw_init(&second);
    write_jobs(&first, &list);
    job_list_finish(&list);
    FUZZ_ASSERT(job_file_parse(first.data, first.length, &list, &fault) == 0);
    write_jobs(&second, &list);
    job_list_finish(&list);
    fuzz_check_same(&first, &second);
    jsonw_finish(&first);
    jsonw_finish(&second);
    return 0;
}
