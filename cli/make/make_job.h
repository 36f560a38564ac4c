/* SPDX-License-Identifier: BSD-3-Clause */
/* A command line becomes a job (make_request.h). */
#ifndef CLI_MAKE_JOB_H
#define CLI_MAKE_JOB_H

#include "cli/make/make_request.h"

/** Element types, as --type takes them. */
extern const struct value make_type_value;

/* Options of a move that a permute does not have. */
#define MAKE_MOV_OPTIONS                                                                           \
    {"slice", 0, "SLICES", "the window, as behind a NumPy array: 1:9,::2,:"},                      \
        {"pad", 0, "LIST", "zeros around each dimension: 0,1,1 or 0,1:2,1"},                       \
    {                                                                                              \
        "at", 0, "LIST", "first coordinate that is written: 0,4,0"                                 \
    }

#define MAKE_JOB_OPTIONS                                                                           \
    {"perm", 0, "LIST", "source dimension of each of the result's: 2,0,1, or NHWC:NCHW"},          \
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
 * Fills the job that the request describes, with the members that its options name. Returns 0, or
 * -1 after printing what is wrong; job_spec_finish() is legal after both.
 */
int make_job(const struct make_request *request, struct job_spec *job);

#endif /* CLI_MAKE_JOB_H */
