/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Job files: text -> struct job_list and back. mlictl-job(5) describes the format;
 * proto/file/job.schema.json repeats the description for editors. mlictl opens the files of each
 * struct job_spec and makes a struct job (proto/wire/job.h) from it.
 *
 * To add a member to jobs in files, start here: add it to struct job_spec, to JOB_KEYS, read_job()
 * and job_file_write() in job_file.c, and to job.schema.json. A member that jobs on the wire also
 * have belongs in proto/wire/job.h.
 */
#pragma once

#include <stddef.h>

#include "proto/file/job_spec.h"
#include "proto/json/fault.h"
#include "proto/json/jsonw.h"
#include "proto/wire/job.h"

/* A job of a job file. Its tensors are in files or buffers. */
struct job_spec {
    struct job_common common;
    struct tensor_spec src, dst;
    char *slice; /* the window in NumPy's notation, checked by slice_parse(); or null */
    char stage[MEMORY_NAME_MAX]; /* memory of the target profile that the job is staged through; or
                                    empty */
    char **after;                /* names of the jobs that must end before this job starts */
    size_t *before;              /* the indices of these jobs in the list */
    size_t after_count;
    struct expectation expect;
    char pointer[32]; /* JSON pointer of this job in its file: "", "/3" or "/jobs/3" */
};

struct job_list {
    struct job_spec *jobs;
    size_t count;
    size_t *order;               /* indices of the jobs: file order, but predecessors first */
    struct buffer_spec *buffers; /* the buffers that the jobs share */
    size_t buffer_count;
};

/** Sets the defaults of struct job_common; makes all other members empty. */
void job_spec_init(struct job_spec *job);
void job_spec_finish(struct job_spec *job);
void job_list_finish(struct job_list *list);

/* Limits of the text of a job file, for json_parse(). */
extern const struct json_limits job_file_limits;

/**
 * Parses a job file: one job, an array of jobs, or {"defaults": {...}, "buffers": [...], "jobs":
 * [...]}. Members of "defaults" hold for every job without that member; "src", "dst" and "cfg" are
 * merged member by member. Checks everything that needs no tensor file: types, ranges, unknown and
 * duplicate keys, unique names, that "after" names jobs of the same file without a cycle, and that
 * "buffer" names a buffer of the file. Also orders the jobs (`before`, `order`). Returns 0 with at
 * least one job, or -1 with the fault filled and *list empty.
 */
int job_file_parse(const char *text, size_t length, struct job_list *list, struct fault *fault);

/** Writes a job as an object that job_file_parse() reads. */
void job_file_write(struct jsonw *w, const char *key, const struct job_spec *job);
