/* SPDX-License-Identifier: BSD-3-Clause */
/* What became of a job, told: a line for people, an object for programs. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/job/execute.h"
#include "cli/term/print.h"

/** Writes a job's name, else its file with, where the file has several jobs, the job's place. */
void job_report_label(char *out, size_t size, const struct job_file *file,
                      const struct job_spec *job);

/** Reports a job that `run` or `submit` carried out. */
void job_report_outcome(const struct print_style *style, const struct job_file *file,
                        const struct job_spec *job, const struct outcome *outcome);

/** Reports a job that `validate` looked at. */
void job_report_validated(const struct print_style *style, const struct job_file *file,
                          const struct job_spec *job, const struct outcome *outcome);

/** The object for programs alone. */
void job_report_json(const struct job_file *file, const struct job_spec *job,
                     const struct outcome *outcome);

#endif /* CLI_REPORT_H */
