/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `mlictl make`: a command line becomes a job.
 *
 *     options -> make_job.c    struct job, of which only what was said is filled
 *             -> its text      what is printed, read back as a job file
 *             -> make_check.c  all that the tensors tell of it already
 *             -> relocate.c    its file names, for a job file in another directory
 */
#ifndef CLI_MAKE_JOB_H
#define CLI_MAKE_JOB_H

#include "job.h"
#include "options.h"

/** Element types, as --type takes them. */
extern const struct value make_type_value;

#define MAKE_JOB_OPTIONS                                                                           \
    {"slice", 0, "SLICES", "the window, as behind a NumPy array: 1:9,::2,:"},                      \
        {"pad", 0, "LIST", "zeros around each dimension: 0,1,1 or 0,1:2,1"},                       \
        {"perm", 0, "LIST", "source dimension of each of the result's: 2,0,1"},                    \
        {"at", 0, "LIST", "first coordinate that is written: 0,4,0"},                              \
        {"update", 0, NULL, "write into the tensor that OUT holds already"},                       \
        {"type", 0, "TYPE", "fx8, fx16, sa8, sa32, fp16 or fp32 (by the dtype)",                   \
         .takes = &make_type_value},                                                               \
        {"tensor", 't', "NAME", "which tensor of a .npz or .safetensors file IN"},                 \
        {"shape", 0, "LIST", "of a raw file IN, outermost first"},                                 \
        {"offset", 0, "BYTES", "of a raw file's first element"},                                   \
        {"expect", 0, "GOLDEN", "what the result is compared with: a file, or sha256:...",         \
         .takes = &value_file},                                                                    \
        {"channels", 0, "N", "DMA channels to split the transfer over"},                           \
    {                                                                                              \
        "name", 0, "NAME", "of the job"                                                            \
    }

/**
 * The job that the options and the arguments OP IN OUT describe. Returns 0, or -1 after saying on
 * stderr what is wrong; job_finish() is legal after both.
 */
int make_job(const struct options *options, struct job *job);

#endif /* CLI_MAKE_JOB_H */
