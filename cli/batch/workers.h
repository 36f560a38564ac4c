/* SPDX-License-Identifier: BSD-3-Clause */
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

/* A case until its verdict: as many attempts as that takes. */
struct trial_plan {
    struct attempt_plan attempt;
    uint32_t repeat;               /* times that it has to pass */
    atomic_uint *repeat_now;       /* set to the number of each attempt that begins; null: not */
    uint32_t retries;              /* attempts that may fail, if the next one passes */
    struct keeping keeping;        /* where failed cases are kept */
    const struct options *options; /* of the command line, which tell how to do that again */
    struct run_setup setup;        /* what all results depend on, where they are noted */
};

/* What came of it. */
struct trial {
    enum attempt_end end;
    struct case_result result; /* where it ended: of the whole case, to be finished */
    struct fault fault;        /* why the connection is lost, or why nothing could be kept */
    bool complains;            /* the latter */
};

/** `client` is opened where it is not connected, and stays open. */
void trial_run(struct trial *trial, const struct batch_case *batch_case,
               const struct trial_plan *plan, const struct connector *connector,
               struct client *client);

/*
 * Workers: threads that take one case after the other and hand in what became of it. The thread
 * that started them waits for that and alone tells and writes it down.
 */
enum { WORKERS_MAX = 256 };

struct workers_plan {
    struct trial_plan trial;
    const struct connector *connector;
    uint32_t workers;
    bool fail_fast, flaky_is_good;
    struct batch_case *const *cases; /* in the order in which they begin */
    size_t count;
};

/* What the thread that waits does. */
struct workers_callbacks {
    /** A case has ended; the result is the caller's, until it returns. False: begin no further one.
     */
    bool (*ended)(void *context, size_t index, const struct trial *trial);
    /** About ten times a second. */
    void (*tick)(void *context);
    void *context;
};

/**
 * Runs all cases; `first` becomes the connection of the first worker and is closed. Returns DONE;
 * or what ended it before: STOPPED, or what goes with *fault.
 */
enum exit_code workers_run(const struct workers_plan *plan, struct client *first,
                           const struct workers_callbacks *callbacks, struct fault *fault);

#endif /* CLI_BATCH_WORKERS_H */
