/* SPDX-License-Identifier: BSD-3-Clause */
/* What a selftest tells: complaints as they come, then a line or an object for each engine. */
#ifndef CLI_SELFTEST_REPORT_H
#define CLI_SELFTEST_REPORT_H

#include "cli/selftest/round.h"
#include "cli/term/print.h"

/* What stays the same from one engine to the next. */
struct selftest_report {
    struct print_style style;
    bool channels;        /* the channels' statistics as text, too */
    const char *keep;     /* where a failed case goes; null: named after seed and index */
    const char *defaults; /* options to repeat for the same cases, " --mode poll" */
    char *kept;           /* the job file that was written; there is one, of the first case */
    const char *kept_engine;
};

void selftest_report_init(struct selftest_report *report, const struct print_style *style);
void selftest_report_finish(struct selftest_report *report);

/** As round->on_failure, with the tell as context: a complaint, and the case as a job file. */
void selftest_report_failure(void *report, const struct round *round,
                             const struct failure *failure);

/** A round that is over. */
void selftest_report_round(const struct selftest_report *report, const struct round *round);

/** An engine that cannot be had here. */
void selftest_report_skipped(const struct selftest_report *report, const struct round *round,
                             const char *why);

#endif /* CLI_SELFTEST_REPORT_H */
