/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns a job with tensors in files into a job with tensors in open descriptors: reads headers,
 * checks everything that can be checked before data moves, and begins the output. Tensors in
 * buffers of the job file are described only: they have no file, path or output.
 *
 *     struct job_spec -> src, before, expect: opened and described
 *                     -> whole: the output as it will be
 *                     -> output, params: begun, not yet in place
 *                     -> wire: the job as sent, with a descriptor for each tensor in a file
 */
#pragma once

#include "cli/file/output.h"
#include "cli/job/job_files.h"
#include "cli/job/produced.h"
#include "cli/tensor/tensor_file.h"
#include "proto/json/fault.h"
#include "proto/wire/job.h"

struct resolved {
    const struct job_spec *job;
    const struct buffer_spec *src_buffer,
        *dst_buffer; /* buffers of the job file; null: the tensor is in a file */
    char *src_path, *dst_path, *params_path, *expect_path,
        *wanted_path; /* paths with which this process opens the files; wanted_path: expect.params
                       */
    struct tensor_file src;
    struct tensor_file before; /* the tensor in the file or buffer that the job updates, or the
                                  zeros that the job makes (not open); rank 0 if it updates
                                  nothing, or raw bytes */
    struct tensor_file expect; /* the golden file; closed: the job has none, or it is missing */
    struct tensor_file whole;  /* the planned output file; not open, stat.st_size is its size */
    /* The result of the move on the wire: rank, shape, mem_stride, data.capacity. There and in
     * `wire`, elements of 8 and 16 bytes are parts of 4 bytes, and more than 4 dimensions are
     * folded; the files above, shape and strides have whole elements in the dimensions of the
     * files. */
    mli_tensor result;
    uint32_t shape[TENSOR_RANK_MAX]; /* of the result, cfg.dst_offset included */
    int32_t strides[TENSOR_RANK_MAX];
    /* The expected parameters; without has_wanted, the job expects none, or their file is missing.
     */
    struct tensor_desc wanted;
    bool has_wanted;
    struct output output, params;
    struct job wire; /* the job for the service; the caller sets src.buffer and dst.buffer */
};

/** Resolves `job` of `file` without beginning its outputs. Apart from that, like resolved_init().
 */
int resolved_plan(struct resolved *resolved, const struct job_file *file,
                  const struct job_spec *job, const struct produced *produced, struct fault *fault);

/**
 * Resolves `job` of `file`. `produced`: files that count as existing, for a job that is only
 * checked or keeps its outputs in memory; null: the job will write to the disk, and the file
 * that it updates is locked. Fault pointers are relative to the job. Returns 0 or -1;
 * resolved_finish() is legal after both.
 */
int resolved_init(struct resolved *resolved, const struct job_file *file,
                  const struct job_spec *job, const struct produced *produced, struct fault *fault);

/**
 * Adds the output of the job to `produced`, for the jobs after it; nothing if the job expects an
 * error or writes to a buffer. Returns 0 or -1.
 */
int resolved_produce(const struct resolved *resolved, struct produced *produced,
                     struct fault *fault);

/** Closes everything and drops outputs that were not committed. */
void resolved_finish(struct resolved *resolved);
