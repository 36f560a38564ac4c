/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is told of a batch, while it runs and at its end. One thread calls all of this. `merge`
 * tells the same of results that it reads, so that reports do not know whether anything runs.
 *
 * To add a form: write a struct batch_sink (sink.h), and list it in report.c.
 */
#ifndef CLI_BATCH_REPORT_H
#define CLI_BATCH_REPORT_H

#include <stdint.h>

#include "cli/batch/outline.h"
#include "cli/batch/result.h"
#include "cli/batch/summary.h"
#include "cli/exit_code.h"
#include "cli/options.h"

struct batch_report;

/* What --flaky can be. */
extern const struct value batch_report_flaky_value;

/** Options of batch and of merge, beside --json and --quiet. */
#define BATCH_REPORT_OPTIONS                                                                       \
    {"tap", 0, NULL, "TAP version 13 on standard output"},                                         \
        {"junit", 0, "FILE", "a report in JUnit's XML; `-` is standard output",                    \
         .takes = &value_file},                                                                    \
        {"flaky", 0, "WORD", "pass or fail: what flaky cases are for the exit code (pass)",        \
         .takes = &batch_report_flaky_value},                                                      \
    {                                                                                              \
        "verbose", 'v', NULL, "a line for each case also where nobody watches"                     \
    }

/** What --flaky says. Returns 0, or -1 after saying on stderr what is wrong. */
int batch_report_flaky(const struct options *options, bool *is_good);

/**
 * Chooses the forms that the options ask for. Two that both want standard output are refused
 * (INVALID), as is a --junit file that cannot be made. batch_report_destroy() is legal after both.
 */
enum exit_code batch_report_create(const struct options *options, struct batch_report **out);
/** Before the beginning: "shard 2 of 4" has not run, or not all of it. `text` is told of it. */
void batch_report_gap(struct batch_report *report, const char *name, const char *text);
void batch_report_begin(struct batch_report *report, const struct batch_outline *outline);
/** Writes a sentence about the run; after batch_report_begin(). */
void batch_report_note(struct batch_report *report, const char *text);
/** As cases end; first those of outline->resumed. */
void batch_report_result(struct batch_report *report, const struct case_result *result);
/** About ten times a second; `ns` since begin. */
void batch_report_tick(struct batch_report *report, uint64_t ns);
/** Before a tick, with --repeat: the attempt that began last is its case's number `now` of `all`.
 */
void batch_report_repeat(struct batch_report *report, uint32_t now, uint32_t all);
/** Before the end, where it is known which cases have not run. */
void batch_report_not_run(struct batch_report *report, const char *name, const char *file);
/** Returns the summary's exit code, or FAILED where it was DONE and a report could not be written.
 */
enum exit_code batch_report_end(struct batch_report *report, const struct batch_summary *summary);
void batch_report_destroy(struct batch_report *report);

#endif /* CLI_BATCH_REPORT_H */
