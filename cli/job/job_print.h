/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a job at a daemon, printed as a line of a table or as an object. */
#ifndef CLI_JOB_PRINT_H
#define CLI_JOB_PRINT_H

#include "cli/term/print.h"
#include "proto/json/textw.h"
#include "proto/wire/job_info.h"

/** The heading of the table of job_print_line(). */
#define JOB_PRINT_HEADING                                                                          \
    "     JOB  STATE      PRIO  CHANNELS        BYTES    QUEUED    MOVING  NAME"

/** Writes a line of the table, without a newline. */
void job_print_line(struct textw *w, const struct job_info *info);

/** Prints a line of the table, after the heading if the line is the first. */
void job_print_table(const struct print_style *style, const struct job_info *info, bool first);

/** Returns the colour of a state. */
enum colour_role job_state_colour(enum job_state state);

/** Prints the object of a job. */
void job_print_json(const struct job_info *info);

#endif /* CLI_JOB_PRINT_H */
