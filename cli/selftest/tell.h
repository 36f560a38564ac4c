/* SPDX-License-Identifier: BSD-3-Clause */
/* What a selftest tells: complaints as they come, then a line or an object for each engine. */
#ifndef CLI_SELFTEST_TELL_H
#define CLI_SELFTEST_TELL_H

#include "cli/selftest/round.h"
#include "cli/term/print.h"

/* What stays the same from one engine to the next. */
struct tell {
    struct print_style style;
    bool channels;        /* the channels' statistics as text, too */
    const char *keep;     /* where a failed case goes; null: named after seed and index */
    const char *defaults; /* options to repeat for the same cases, " --mode poll" */
    char *kept;           /* the job file that was written; there is one, of the first case */
    const char *kept_engine;
};

void tell_init(struct tell *tell, const struct print_style *style);
void tell_finish(struct tell *tell);

/** As round->on_failure, with the tell as context: a complaint, and the case as a job file. */
void tell_failure(void *tell, const struct round *round, const struct failure *failure);

/** A round that is over. */
void tell_round(const struct tell *tell, const struct round *round);

/** An engine that cannot be had here. */
void tell_skipped(const struct tell *tell, const struct round *round, const char *why);

#endif /* CLI_SELFTEST_TELL_H */
