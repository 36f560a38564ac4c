/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job whose tensors are files becomes a job whose tensors are open descriptors: headers are
 * read, everything that can be known before any data moves is checked, the output is begun.
 *
 *     struct job_spec -> inputs.c  src, before, expect: opened and described
 *                        -> layout.c    whole: the output as it will be
 *                        -> output, params: begun, not yet there
 *                        -> wire: the job as it travels, with RESOLVED_FDS descriptors
 */
#ifndef CLI_RESOLVE_H
#define CLI_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/file/output.h"
#include "cli/job/job_files.h"
#include "cli/job/produced.h"
#include "cli/tensor/tensor_file.h"
#include "proto/json/fault.h"
#include "proto/wire/job.h"

/* Descriptors that go with wire. */
enum { RESOLVED_FD_SRC, RESOLVED_FD_DST, RESOLVED_FDS };

struct resolved {
    const struct job_spec *job;
    char *src_path, *dst_path, *params_path, *expect_path; /* as this process opens them */
    struct tensor_file src;
    struct tensor_file before; /* dst as it is now, where the job updates it */
    struct tensor_file expect;
    struct tensor_file whole; /* dst as it will be; not open, stat.st_size is the file's size */
    mli_tensor result;        /* what the move gives: rank, shape, mem_stride, data.capacity */
    struct output output, params;
    struct job wire;
};

/**
 * Resolves `job` of `file`, but for its outputs, which are not begun: what a move would be,
 * wherever its result could be put. Otherwise as resolved_init().
 */
int resolved_plan(struct resolved *resolved, const struct job_file *file,
                  const struct job_spec *job, const struct produced *produced, struct fault *fault);

/**
 * Resolves `job` of `file`. `produced`: files to take as existing, of a job that is only looked
 * at, or whose outputs are kept in memory; null where it will write to the disk, which locks the
 * file that it updates. Fault pointers are relative to the job. Returns 0 or -1; resolved_finish()
 * is legal after both.
 */
int resolved_init(struct resolved *resolved, const struct job_file *file,
                  const struct job_spec *job, const struct produced *produced, struct fault *fault);

/**
 * Notes what the job would leave behind, for those after it. Nothing where it expects an error,
 * even if that does not show yet. Returns 0 or -1.
 */
int resolved_produce(const struct resolved *resolved, struct produced *produced,
                     struct fault *fault);

/** Closes everything; outputs that were not committed never were. */
void resolved_finish(struct resolved *resolved);

#endif /* CLI_RESOLVE_H */
