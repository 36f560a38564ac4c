/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers: threads that take one case after the other and hand in what became of it. The thread
 * that started them waits for that and alone tells and writes it down.
 */
#ifndef CLI_BATCH_RUNNER_H
#define CLI_BATCH_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/batch/cases.h"
#include "cli/batch/connector.h"
#include "cli/batch/trial.h"

enum { RUNNER_WORKERS_MAX = 256 };

struct runner_plan {
    struct trial_plan trial;
    const struct connector *connector;
    uint32_t workers;
    bool fail_fast, flaky_is_good;
    struct batch_case *const *cases; /* in the order in which they begin */
    size_t count;
};

/* What the thread that waits does. */
struct runner_ears {
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
enum exit_code runner_run(const struct runner_plan *plan, struct client *first,
                          const struct runner_ears *ears, struct fault *fault);

#endif /* CLI_BATCH_RUNNER_H */
