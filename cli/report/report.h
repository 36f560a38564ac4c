/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The results of a batch, and the head of this folder:
 *
 *     result.h       plain data: the outline of a run, the result of a case, the summary
 *     fingerprint.h  checksums of all inputs of a case
 *     shard.c        --shard: selects the cases of one machine
 *     state_file.h   the state file of --resume: lines of JSON
 *     merge.c        mlictl batch merge: one report of several state files
 *     report.h       shows results to people and programs
 *
 * Reports of a batch, while it runs and at its end. Each form of report is a reporter:
 *
 *     results -> batch_report_*() -> reporter_lines, reporter_progress   people
 *                                 -> reporter_tap, reporter_junit        CI servers
 *                                 -> reporter_html (html.h)              people
 *                                 -> reporter_events (--json)            programs, such as the
 *                                                   filters conf/fleet/ktap.py and lava.py
 *
 * A run calls batch_report_*() as its cases end, merge.c with results of state files, both from one
 * thread. Reporters do not know which of the two calls them. People read each result as soon as its
 * case has ended, batch_report_ended(); programs and files get the results sorted by name,
 * batch_report_result(), so that the reports of two runs can be compared.
 *
 * To add a form of report, start here:
 *   1. Write reporter_NAME.c with a struct reporter; reporter_tap.c is a short example.
 *   2. Declare it below and add it to forms[] in report.c, with the condition that selects it.
 *   3. Add its option to the table of cli/batch/batch_options.c, and to struct report_style.
 *   4. Test it in tests/unit/cli/test_batch_report.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/options.h"
#include "cli/report/result.h"
#include "cli/term/exit_code.h"
#include "cli/term/print.h"

struct batch_report;

/* The values of --flaky. */
extern const struct value batch_report_flaky_value;

/** Reads --flaky. Returns 0, or -1 after printing an error. */
int batch_report_flaky(const struct options *options, bool *is_good);

/**
 * Creates the reporters that the options select. Returns INVALID after printing an error if two of
 * them need standard output or a --junit file cannot be created. batch_report_destroy() is required
 * in both cases.
 */
enum exit_code batch_report_create(const struct options *options, struct batch_report **out);
/** With --json, prints a "problem" event: why a part of the run is missing. `file` may be NULL, and
 * `at` too, whose position in the file is printed. */
void batch_report_problem(const struct options *options, const char *file, const struct fault *at,
                          const char *text);
/** Reports shards that are missing or incomplete, or a refused line of standard input. */
void batch_report_gap(struct batch_report *report, const char *name, const char *text);
void batch_report_begin(struct batch_report *report, const struct batch_outline *outline);
/** Reports a sentence about the run, after batch_report_begin(). */
void batch_report_note(struct batch_report *report, const char *text);
/** Reports to people that a case has ended. Call it first for the reused results
 * (outline->resumed). */
void batch_report_ended(struct batch_report *report, const struct case_result *result);
/** Adds the result of a case to the other reports. Call it in the order of the names, unless the
 * outline is open: the cases then are not known before they end. */
void batch_report_result(struct batch_report *report, const struct case_result *result);
/** Updates the live line, about ten times a second; `ns` since batch_report_begin(). The newest
 * attempt is number `now` of `all` attempts at a case; 0: no attempt yet. */
void batch_report_tick(struct batch_report *report, uint64_t ns, uint32_t now, uint32_t all);
/** Reports a case that has not run, before batch_report_end(). */
void batch_report_not_run(struct batch_report *report, const char *name, const char *file);
/** Ends the report. Returns summary->exit, or FAILED instead of DONE if writing a report failed. */
enum exit_code batch_report_end(struct batch_report *report, const struct batch_summary *summary);
/** Returns whether all reports were written, including those on standard output. Call it after the
 * end. */
bool batch_report_is_written(const struct batch_report *report);
void batch_report_destroy(struct batch_report *report);

/**
 * `mlictl batch merge`: makes one report of the state files of all shards (merge.c). `options` are
 * those of `mlictl batch`; the first argument is "merge".
 */
enum exit_code batch_merge(const struct options *options);

/* The declarations below are for reporters only. */

/* The reports that the options select, and the kind of standard output. */
struct report_style {
    const char *junit;                            /* path, "-", or NULL */
    const char *html;                             /* directory, or NULL */
    const char *resume;                           /* state file, or NULL */
    const char *engine, *profile, *socket, *host; /* options of the run; NULL: not given */
    bool merged;                                  /* results come from state files */
    bool json, tap, verbose, quiet;
    bool flaky_is_good;
    bool terminal; /* standard output is a terminal */
    bool again;    /* print failures again at the end of the run */
    int live_fd;   /* descriptor for the live line, or -1 */
};

/* Callbacks of one reporter, as batch_report_*() above. They may be NULL. */
struct reporter {
    size_t size; /* size of the state, which is all zeros before init() */
    /** Returns 0, or -1 after printing an error; finish() follows in both cases. */
    int (*init)(void *state, const struct report_style *style);
    void (*gap)(void *state, const char *name, const char *text);
    void (*begin)(void *state, const struct batch_outline *outline);
    /** `text` may have any bytes, because it contains names of cases. */
    void (*note)(void *state, const char *text);
    void (*ended)(void *state, const struct case_result *result);
    void (*result)(void *state, const struct case_result *result);
    void (*tick)(void *state, uint64_t ns, uint32_t now, uint32_t all);
    void (*not_run)(void *state, const char *name, const char *file);
    /** Returns 0, or -1 after printing what could not be written. Called at most once. */
    int (*end)(void *state, const struct batch_summary *summary);
    void (*finish)(void *state);
};

extern const struct reporter reporter_events, reporter_html, reporter_junit, reporter_lines,
    reporter_progress, reporter_tap;
