/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_BATCH_REPORT_H
#define CLI_BATCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/batch/result.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/term/escaped.h"
#include "proto/json/textw.h"

/*
 * What is told of a batch, while it runs and at its end. One thread calls all of this. `merge`
 * tells the same of results that it reads, so that reports do not know whether anything runs.
 *
 * To add a form: write a struct reporter, and list it in report.c.
 */
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

/* One form in which a batch is told. Private to the reports. */
/* What the options say, and where standard output goes. */
struct report_style {
    const char *junit; /* a file, or null */
    bool json, tap, verbose, quiet;
    bool flaky_is_good;
    bool terminal; /* people watch standard output */
    int live_fd;   /* where a live line may be, or -1 */
};

/* Null members are not called; `create`, `end` and `destroy` are always there. */
struct reporter {
    /** Returns 0, or -1 after saying what is wrong; `destroy` is not called then. */
    int (*create)(const struct report_style *style, void **state);
    /** Before the beginning: a shard that is missing, or shards, and what is told of that. */
    void (*gap)(void *state, const char *name, const char *text);
    void (*begin)(void *state, const struct batch_outline *outline);
    /** Writes a sentence about the run; names in it may be any bytes. */
    void (*note)(void *state, const char *text);
    void (*result)(void *state, const struct case_result *result);
    void (*tick)(void *state, uint64_t ns);
    /** Before a tick, with --repeat: the attempt that began last is the case's number `now` of
     *  `all`. */
    void (*repeat)(void *state, uint32_t now, uint32_t all);
    void (*not_run)(void *state, const char *name, const char *file);
    /** Returns 0, or -1 after saying what could not be written. Called at most once. */
    int (*end)(void *state, const struct batch_summary *summary);
    void (*destroy)(void *state);
};

extern const struct reporter reporter_events, reporter_junit, reporter_lines, reporter_progress,
    reporter_tap;

/* What is said of a case, the same in all forms. */
/** "cases/a.json: /expect: 2 of 24 elements differ, ...", what is known of it, by a rule. */
void reporter_sentence(struct textw *w, const struct case_result *result, escaped_rule rule);

/** ", 580 cases/s", where anything was done. */
void reporter_rate(struct textw *w, size_t cases, uint64_t ns);

/* mlictl batch merge: one report of the state files of all shards. */
/**
 * `options` are those of `mlictl batch`, the first argument is the word "merge". Options that say
 * what is run, or how, are refused.
 */
enum exit_code batch_merge(const struct options *options);

#endif /* CLI_BATCH_REPORT_H */
