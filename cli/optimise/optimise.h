/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuses the moves of a job file: the interface of this folder for commands. program.h describes the
 * data flow.
 *
 *     struct optimised result;
 *     if (optimise(&result, &file, &request, &fault) == 0 &&
 *         result.after.jobs < result.before.jobs)
 *         ... write result.text ...
 *     optimised_finish(&result);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/job/job_files.h"
#include "cli/optimise/coded_input.h"
#include "cli/optimise/program.h"
#include "cli/options.h"
#include "proto/json/jsonw.h"
#include "target/profile/target_profile.h"

struct optimise_request {
    struct program_intermediates intermediates;
    bool raw;         /* true: a .npy source may become a raw file with an offset to its elements */
    const char *path; /* path of the new job file, to whose directory file names become relative;
                         "-": the working directory; null: the directory of the old job file */
    const struct options *options;        /* options of the service that runs the proof */
    const struct target_profile *profile; /* profile for the predicted times, or null */
};

/* What the jobs of a file cost. */
struct optimise_totals {
    size_t jobs;
    uint64_t read, written;      /* bytes of elements */
    size_t intermediates;        /* number of written buffers and files that nobody needs */
    uint64_t intermediate_bytes; /* their bytes */
    uint64_t ns;                 /* predicted time; 0: unknown */
};

/* A job of the new file. */
struct optimised_job {
    size_t origin; /* index of the job in the old file */
    bool fused;    /* true: reads another source than the job in the old file */
};

struct proof {
    bool equal;
    unsigned passes;
    size_t outputs;        /* number of compared files and buffers */
    uint64_t bytes;        /* total bytes of these files and buffers */
    char different[160];   /* the first output that differs; or empty */
    uint64_t different_at; /* offset of the first byte that differs */
};

struct optimised {
    struct program first; /* the old file, which is borrowed */
    struct job_file file; /* the new file, if jobs were saved */
    struct program last; /* the jobs of the new file; empty without savings: see optimised_last() */
    struct optimised_job *jobs; /* by index in the new file */
    struct optimise_totals before, after;
    struct proof proof;
    struct jsonw text; /* the new job file, with a newline at the end */
};

/**
 * Finds a job file that writes the same outputs with fewer jobs, and proves it. Reads the headers
 * of all sources, which must exist. If no job can be saved, the text has the old jobs in the order
 * of execution. Returns 0 or -1 with the fault (FAULT_INTERNAL if the proof fails);
 * optimised_finish() may be called in both cases.
 */
int optimise(struct optimised *result, const struct job_file *file,
             const struct optimise_request *request, struct fault *fault);
void optimised_finish(struct optimised *result);

/** Returns the newest program; after optimise(), it has only the jobs that stay. */
const struct program *optimised_last(const struct optimised *result);

/* What `mlictl optimise` found in one job file: a table, or an object. */

/** Writes the table, the fused and removed jobs, and the reasons for jobs that stay. */
void optimise_report_text(struct textw *w, const struct optimised *result);

/** Writes the report as one object, with all jobs. */
void optimise_report_json(struct jsonw *w, const struct optimised *result);

/*
 * The proof that the new job file writes what the old one writes: runs both in this process, with
 * outputs in memory and position-coded inputs (coded_input.h), and compares all outputs byte by
 * byte: files, and buffers that no job reads.
 */

/**
 * Runs the jobs of `p` and those of `text`, a job file in the same directory. `options`: options
 * of the service inside this process. Returns 0 with *proof filled, or -1 with the fault if a job
 * fails or the data exceed the limit of --limit-bytes.
 */
int proof_run(struct proof *proof, const struct program *p, const struct jsonw *text,
              const struct options *options, struct fault *fault);
