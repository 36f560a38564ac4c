/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command line that describes one job, for make, mov and permute:
 *
 *     options -> make_job.c        struct job_spec, with the members that the options name
 *             -> make_request.c    its text, read back as a job file; checked against the tensors
 *                                  that exist
 *             -> relocate.c        file names, for a job file in another directory
 *             -> make_request.c    written, and run or printed as C
 *
 * To add an option of make, start at MAKE_JOB_OPTIONS in make_job.h and read it in make_job.c.
 */
#ifndef CLI_MAKE_REQUEST_H
#define CLI_MAKE_REQUEST_H

#include <stdbool.h>

#include "cli/exit_code.h"
#include "cli/options.h"
#include "proto/file/job_file.h"

struct make_request {
    const struct options *options; /* MAKE_..._OPTIONS, --output, --force, and of the service */
    enum job_op op;
    const char *in, *out;
    const char *label; /* name in reports, in place of a job file's name */
    bool run;          /* true: run the job; false: print it, or write it to --output */
    bool c;            /* true: print a C function for the job, and not the job */
};

/** Makes the job, checks it, writes it to --output and runs it, as the request says. */
enum exit_code make_request_carry_out(const struct make_request *request);

#endif /* CLI_MAKE_REQUEST_H */
