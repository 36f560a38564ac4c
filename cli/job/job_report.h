/* SPDX-License-Identifier: BSD-3-Clause */
/* The outcome of a job, printed as lines for people or as an object. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/job/execute.h"
#include "cli/term/print.h"

/** Writes a job's name; a nameless job has its file, and its place if the file has several jobs. */
void job_report_label(char *out, size_t size, const struct job_file *file,
                      const struct job_spec *job);

/** Prints the outcome of a job that `run` or `submit` carried out. */
void job_report_outcome(const struct print_style *style, const struct job_file *file,
                        const struct job_spec *job, const struct outcome *outcome);

/** Prints the outcome of a job that `validate` checked. */
void job_report_validated(const struct print_style *style, const struct job_file *file,
                          const struct job_spec *job, const struct outcome *outcome);

/** Prints only the object. */
void job_report_json(const struct job_file *file, const struct job_spec *job,
                     const struct outcome *outcome);

#endif /* CLI_REPORT_H */
