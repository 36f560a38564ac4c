/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is told of a batch, while it runs and at its end. One thread calls all of this. `merge`
 * tells the same of results that it reads, so that reports do not know whether anything runs.
 *
 * To add a form: write a struct batch_sink, and list it in report.c.
 */
#ifndef CLI_BATCH_REPORT_H
#define CLI_BATCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exit_code.h"
#include "fault.h"
#include "options.h"
#include "result.h"

/* What is going to be run. */
struct batch_outline {
    size_t total;           /* cases before --shard */
    size_t selected;        /* those of this shard */
    size_t resumed;         /* of these, how many stand in the state file already */
    uint32_t shard, shards; /* from 1; 0, 0: not sharded */
    uint64_t set;           /* a digest of all `total` names */
};

struct batch_summary {
    size_t count[CASE_STATUS_COUNT];
    size_t not_run;
    uint64_t ns; /* of the whole batch */
    enum exit_code exit;
};

/* One form of telling. Null members are not called. */
struct batch_sink {
    void (*begin)(void *state, const struct batch_outline *outline);
    void (*result)(void *state,
                   const struct case_result *result); /* as cases end; resumed ones first */
    void (*tick)(void *state, uint64_t ns); /* about ten times a second; time since begin */
    /** Returns 0, or -1 after saying what could not be written. */
    int (*end)(void *state, const struct batch_summary *summary);
    void (*finish)(void *state); /* frees the state */
};

struct batch_report;

/** Options of batch and of merge: --tap --junit --json --verbose --quiet. */
#define BATCH_REPORT_OPTIONS                                                                       \
    {"tap", 0, NULL, "TAP version 14 on standard output"},                                         \
        {"junit", 0, "FILE", "a report in JUnit's XML; `-` is standard output"},                   \
    {                                                                                              \
        "verbose", 'v', NULL, "a line for each case also where nobody watches"                     \
    }

/**
 * Chooses the forms that the options ask for. Two that both want standard output are refused
 * (INVALID), as is a --junit file that cannot be made. batch_report_destroy() is legal after both.
 */
enum exit_code batch_report_create(const struct options *options, struct batch_report **out);
void batch_report_begin(struct batch_report *report, const struct batch_outline *outline);
void batch_report_result(struct batch_report *report, const struct case_result *result);
void batch_report_tick(struct batch_report *report, uint64_t ns);
/** Returns the summary's exit code, or FAILED where it was DONE and a report could not be written.
 */
enum exit_code batch_report_end(struct batch_report *report, const struct batch_summary *summary);
void batch_report_destroy(struct batch_report *report);

#endif /* CLI_BATCH_REPORT_H */
