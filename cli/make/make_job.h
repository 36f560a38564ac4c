/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command line that describes one job, for make, mov and permute:
 *
 *     options -> struct job_spec, with the members that the options name
 *             -> its text, read back as a job file and checked against the tensors that exist
 *             -> relocate.c        file names, for a job file in another directory
 *             -> written, and run or printed as C
 *
 * To add an option of make, start at MAKE_JOB_OPTIONS in make_job.h and read it in make_job.c.
 */
#pragma once

#include <stdbool.h>

#include "cli/options.h"
#include "cli/term/exit_code.h"
#include "proto/file/job_file.h"

struct make_request {
    /* MAKE_..._OPTIONS, --output, --force, and the options of the service. */
    const struct options *options;
    enum job_op op;
    const char *in, *out;
    const char *label; /* name in reports, in place of a job file's name */
    bool run;          /* true: run the job; false: print it, or write it to --output */
    bool c;            /* true: print a C function for the job, and not the job */
};

/** Makes the job, checks it, writes it to --output and runs it, as the request says. */
enum exit_code make_request_carry_out(const struct make_request *request);

/** Element types, for --type. */
extern const struct value make_type_value;

/* Options of a move that a permute does not have. */
#define MAKE_MOV_OPTIONS                                                                           \
    {"slice", "SLICES", "Select a window as NumPy does: 1:9,::2,: (default: the whole tensor)."},  \
        {"pad", "LIST", "Add zeros around each dimension: 0,1,1 or 0,1:2,1 (default: none)."},     \
        OPTION("at", "LIST", "Write from this coordinate on: 0,4,0 (default: the first).")

#define MAKE_JOB_OPTIONS                                                                           \
    {"perm", "LIST", "Permute the dimensions: 2,0,1, or NHWC:NCHW (default: keep their order)."},  \
        {"update", NULL, "Write into the existing tensor in OUT."},                                \
        {"type", "TYPE", "Read IN as fx8, fx16, sa8, sa32, fp16 or fp32 (default: by its dtype).", \
         .takes = &make_type_value},                                                               \
        {"tensor", "NAME", "Read this tensor of an archive or a model IN (default: none)."},       \
        {"shape", "LIST", "Set the extents of a raw file IN, outermost first (default: none)."},   \
        {"offset", "BYTES", "Read a raw file IN from this byte on (default: 0)."},                 \
        {"expect", "GOLDEN",                                                                       \
         "Compare the result with a file or with sha256:DIGEST (default: none).",                  \
         .takes = &value_file},                                                                    \
        {"channels", "N", "Split the transfer over N DMA channels (default: 1)."},                 \
        OPTION("name", "NAME", "Give the job a name (default: none).")

/**
 * Fills the job that the request describes, with the members that its options name. Returns 0, or
 * -1 after printing what is wrong; job_spec_finish() is legal after both.
 */
int make_job(const struct make_request *request, struct job_spec *job);

/**
 * Sets the members of a move that --pad, --perm, --at and --slice describe; job->common.op is set.
 * Returns 0, or -1 after printing what is wrong.
 */
int make_job_cfg(const struct options *options, struct job_spec *job);

/**
 * Sets job->src to the file `in`, as the options --type, --tensor, --shape and --offset describe
 * it. Returns 0, or -1 after printing what is wrong; job_spec_finish() is legal after both.
 */
int make_job_source(const struct options *options, const char *in, struct job_spec *job);

/** Sets job->expect to the value of --expect. Returns 0, or -1 after printing what is wrong. */
int make_job_expect(const struct options *options, struct job_spec *job);
