/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the jobs of a file share buffers and files.
 *
 * Races: a job writes bytes of a buffer, or of a file that several jobs write, another job of the
 * file uses these bytes, and neither job waits for the other by "after". `mlictl run` executes jobs
 * one at a time, in the order of the file, but `mlictl submit --detach` and a board may run both at
 * the same time.
 *
 * Parameters: a buffer holds elements only, so the job that reads it states the quantisation
 * parameters of its source again. The last part of a new tensor gives the parameters of the tensor.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/job/byte_set.h"
#include "cli/job/explained.h"
#include "cli/job/job_files.h"
#include "cli/job/resolve.h"
#include "cli/term/print.h"

/* Files with more jobs are not checked: the table of predecessors has a bit for each pair of
 * jobs. */
enum { RACES_JOBS_MAX = 8192 };

/* The bytes of a buffer or file that a job uses. */
struct race_access {
    size_t job;   /* index in the job file */
    size_t place; /* index of the buffer; or, for a file, the number of buffers + the index of the
                     first job that writes the file */
    bool write;
    struct byte_set bytes;
    uint64_t offset;           /* offset of the tensor's first element */
    struct tensor_desc tensor; /* in buffers, and for parts of a new tensor: shape and quantisation
                                  of the whole tensor; owned */
    uint32_t begin, end;       /* parameters along an axis: the entries that the part gives */
};

struct races {
    const struct job_file *file;
    struct race_access *list;
    size_t count, capacity;
    bool incomplete; /* out of memory */
};

/** Begins the search in a file, with an empty list of accesses. */
void races_begin(struct races *races, const struct job_file *file);
void races_finish(struct races *races);

/** Adds the buffers and files that a job uses. A job that expects an error uses none. */
void races_add(struct races *races, const struct resolved *resolved,
               const struct explained *explained);

/**
 * Prints a warning on stderr for each of the first races; with --json also an object with the
 * member "warning".
 */
void races_report(const struct races *races, const struct print_style *style);

/**
 * Prints, like races_report(), a warning for each job that reads a tensor with other parameters
 * than those with which an earlier job has written it, and for each part of a new tensor whose
 * parameters the last part does not give. Call it before races_report().
 */
void races_report_params(const struct races *races, const struct print_style *style);
