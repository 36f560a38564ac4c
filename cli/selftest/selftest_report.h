/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a selftest: failures as they occur, then a line or an object for each engine. */
#ifndef CLI_SELFTEST_REPORT_H
#define CLI_SELFTEST_REPORT_H

#include "cli/selftest/round.h"
#include "cli/selftest/selftest_case.h"
#include "cli/term/print.h"
#include "proto/json/fault.h"

/* The report over all engines. */
struct selftest_report {
    struct print_style style;
    bool channels;        /* true: print statistics of channels */
    const char *keep;     /* directory for a failed case; null: named after seed and index */
    const char *defaults; /* options that reproduce the cases: " --mode poll" */
    const char *host;     /* URL of the board; null: this process */
    char *kept;           /* the job file of the first failed case; null: not written */
    const char *kept_engine;
};

void selftest_report_init(struct selftest_report *report, const struct print_style *style);
void selftest_report_finish(struct selftest_report *report);

/** Prints a failure and writes its case as a job file; `report`: a struct selftest_report. Fits
 *  round->on_failure. */
void selftest_report_failure(void *report, const struct round *round,
                             const struct failure *failure);

/** Prints the result of a round. */
void selftest_report_round(const struct selftest_report *report, const struct round *round);

/** Prints that an engine is not available. */
void selftest_report_skipped(const struct selftest_report *report, const struct round *round,
                             const char *why);

#endif /* CLI_SELFTEST_REPORT_H */
