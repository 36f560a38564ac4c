/* SPDX-License-Identifier: BSD-3-Clause */
/* A job as the daemon knows it, told. */
#ifndef CLI_JOB_PRINT_H
#define CLI_JOB_PRINT_H

#include "cli/term/print.h"
#include "proto/json/textw.h"
#include "proto/wire/job_info.h"

/** The heading of lines that job_print_line() writes. */
#define JOB_PRINT_HEADING                                                                          \
    "     JOB  STATE      PRIO  CHANNELS        BYTES    QUEUED    MOVING  NAME"

/** A line of a table, without a newline. */
void job_print_line(struct textw *w, const struct job_info *info);

/** The same as a line of stdout, after a heading where it is the first. */
void job_print_table(const struct print_style *style, const struct job_info *info, bool first);

/** What a state looks like. */
enum colour_role job_state_colour(enum job_state state);

/** An object for programs. */
void job_print_json(const struct job_info *info);

#endif /* CLI_JOB_PRINT_H */
