/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers: threads that run cases in parallel. Only the thread that calls workers_run() calls the
 * callbacks, so reports and state file need no lock.
 *
 *     worker: take a case -> trial_run(): attempts until the verdict -> hand in the result
 */
#ifndef CLI_BATCH_WORKERS_H
#define CLI_BATCH_WORKERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/batch/attempt.h"
#include "cli/batch/cases.h"
#include "cli/batch/connector.h"
#include "cli/batch/kept.h"
#include "cli/batch/source.h"

enum { WORKERS_MAX = 256 };

/* A trial: all attempts at one case until its verdict. */
struct trial_plan {
    struct attempt_plan attempt;
    uint32_t repeat;               /* attempts that must pass */
    uint32_t retries;              /* attempts that may fail */
    atomic_uint *repeat_now;       /* set to the number of each attempt that begins; or NULL */
    struct keeping keeping;        /* directory for failed cases */
    const struct options *options; /* options of the command line, for connector_rerun_command() */
    struct run_setup setup;        /* setup of the run, for the fingerprints of results */
};

struct trial {
    enum attempt_end end;
    struct case_result result; /* if the trial ended; case_result_finish() when done */
    struct fault fault;        /* why the connection is lost, or why the case was not kept */
    bool complains;            /* true: the case was not kept */
};

/** Runs the trial of a case. Connects `link` if it is not connected, and leaves it open. */
void trial_run(struct trial *trial, const struct batch_case *batch_case,
               const struct trial_plan *plan, const struct connector *connector,
               struct daemon_link *link);

struct workers_plan {
    struct trial_plan trial;
    const struct connector *connector;
    uint32_t workers; /* 0: nothing runs */
    bool fail_fast, flaky_is_good;
    struct case_source source;
};

/* Called by the thread that called workers_run(). */
struct workers_callbacks {
    /** Records an ended case; `trial` is valid until the callback returns. Returns false to begin
     * no further case. */
    bool (*ended)(void *context, struct batch_case *batch_case, const struct trial *trial);
    /** Records the known result of a case; or why the source refused one. NULL for a source that
     * gives none. */
    void (*reused)(void *context, const struct batch_case *batch_case);
    void (*refused)(void *context, const struct fault *fault);
    /** Reports a message of the source, or why the result of a case does not count; `batch_case` is
     * NULL for a message without a case. */
    void (*note)(void *context, struct batch_case *batch_case, const struct fault *fault);
    /** Called about ten times a second. */
    void (*tick)(void *context);
    void *context;
};

/**
 * Runs all cases of the source. `first` becomes the connection of the first worker and is closed.
 * Returns DONE; STOPPED after ^C; or the code of *fault, which is why no further case began.
 */
enum exit_code workers_run(const struct workers_plan *plan, struct daemon_link *first,
                           const struct workers_callbacks *callbacks, struct fault *fault);

#endif /* CLI_BATCH_WORKERS_H */
