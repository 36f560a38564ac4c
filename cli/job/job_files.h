/* SPDX-License-Identifier: BSD-3-Clause */
/* Job files: read, parsed, and their jobs in the order in which they can run. */
#ifndef CLI_JOB_FILES_H
#define CLI_JOB_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/file/text.h"
#include "proto/file/job_file.h"
#include "proto/json/fault.h"

struct job_file {
    const char *path; /* as given; "stdin" for "-" */
    bool is_file;     /* there is a file of that name */
    char *directory;  /* what its paths are relative to */
    struct job_list list;
    size_t *order;  /* indices of list.jobs: file order, but after those that must be done first */
    size_t **after; /* for each job: indices of the jobs it waits for, as many as after_count */
};

/** Reads and checks a job file, "-" being standard input. Returns 0 or -1 (nothing to finish). */
int job_file_load(struct job_file *file, const char *path, struct fault *fault);
/** The same of one that has been read. */
int job_file_load_text(struct job_file *file, const char *path, const struct text *text,
                       struct fault *fault);
/** What messages call the job file `path`: "stdin" for "-". */
const char *job_file_label(const char *path);
void job_file_finish(struct job_file *file);

/** A path of the job file as this process must open it, without parts that lead back. Heap; null:
 * out of memory. */
char *job_file_path(const struct job_file *file, const char *path);

#endif /* CLI_JOB_FILES_H */
