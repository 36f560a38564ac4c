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
