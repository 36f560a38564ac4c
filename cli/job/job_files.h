/* SPDX-License-Identifier: BSD-3-Clause */
/* Job files: their text, their jobs, and the files that several jobs write. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/file/text.h"
#include "cli/term/print.h"
#include "proto/file/job_file.h"
#include "proto/json/fault.h"

struct job_file {
    const char *path; /* path as given; "stdin" for "-" */
    bool is_file;     /* `path` names a file */
    bool has_streams; /* the job comes from a command line: "-" is standard input or output */
    char *directory;  /* base of the relative paths in the file */
    struct job_list list;
    /* For each job: the first job, in the order of running, that writes the file of its dst, and
     * the first job that writes the file of its src; SIZE_MAX: no job does, or the job expects an
     * error. Null: no two jobs write the same file. */
    size_t *output, *input;
};

/**
 * Reads and checks a job file; "-" is standard input. Refuses jobs that would replace the output of
 * another job. If a job makes a tensor ("shape" in "dst"), the later jobs with the same dst become
 * updates. Returns 0 or -1 (nothing to finish).
 */
int job_file_load(struct job_file *file, const char *path, struct fault *fault);
/** Checks the text of a job file. Apart from that, like job_file_load(). */
int job_file_load_text(struct job_file *file, const char *path, const struct text *text,
                       struct fault *fault);
/** Returns the name of the job file `path` in messages: "stdin" for "-". */
const char *job_file_label(const char *path);
void job_file_finish(struct job_file *file);

/** Converts a path in the job file to a path for open(), simplified by place_simplify(). The
 * caller frees the path. Null: out of memory. */
char *job_file_path(const struct job_file *file, const char *path);

/** Writes the path of job_file_path() for a message. Returns `out`. */
const char *job_file_shown(char out[PRINT_PATH_MAX], const struct job_file *file, const char *path);

/** Writes a job for a message: its name in quotes, or its JSON pointer. Returns `out`. */
enum { JOB_SHOWN_MAX = 192 };
const char *job_shown(char out[JOB_SHOWN_MAX], const struct job_spec *job);

/** Returns whether the job is carried out in steps (staging.h). */
static inline bool is_staged(const struct job_spec *job)
{
    return job->stage[0] != '\0';
}
