/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_BATCH_BATCH_H
#define CLI_BATCH_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/batch/cases.h"
#include "cli/batch/fingerprint.h"
#include "cli/batch/report.h"
#include "cli/batch/shard.h"
#include "cli/batch/state_file.h"
#include "cli/batch/workers.h"
#include "cli/options.h"

/* What the options of `mlictl batch` say of what is run, and how. */
struct batch_settings {
    uint32_t workers;
    uint32_t channels; /* of the service in this process; 0: all that its engine has */
    struct shard shard;
    struct trial_plan trial;
    const char *keep; /* directory of what failed, be it written or not: no place for cases */
    const char *resume;
    bool whole; /* all cases of the arguments: neither --filter nor --shard */
    bool rerun, list, fail_fast, flaky_is_good;
};

/*
 * The books of a batch: which cases there are, what became of each, what is told and written of it.
 * One thread keeps them.
 */
struct batch {
    const struct batch_settings *settings;
    struct cases *cases;
    struct batch_outline outline;
    struct batch_summary summary;
    struct batch_report *report;
    struct state_file state_file;
    struct contents *contents;        /* of the files that cases read; null without a state file */
    const struct case_result **known; /* by case: its result, where it is not run again */
    bool has_state_file;              /* there is a state file */
    bool write_failed;                /* it could not be written */
    bool complained;                  /* of --keep: once is enough */
    struct batch_case **todo;         /* those that are run */
    bool *ended;                      /* of todo */
    bool *passed;                     /* of todo: it passed, at once or not */
    size_t todo_count;
    uint64_t begin_ns;
    struct timespec begin;  /* by the clock of file times */
    atomic_uint repeat_now; /* of the attempt that began last, of any worker; 0: none */
};

/**
 * Chooses the cases to run from sorted and filtered ones: those of the shard without a valid result
 * in the state file. `setup` is read only with a state file.
 * Returns DONE, or another code after saying what is wrong. batch_finish() is legal after both.
 */
enum exit_code batch_open(struct batch *batch, const struct batch_settings *settings,
                          struct cases *cases, const struct options *options,
                          const struct run_setup *setup);

/** Begins to tell. Returns 0, or -1 after saying what is wrong with the state file. */
int batch_begin(struct batch *batch);

/** What the runner calls. */
struct workers_callbacks batch_callbacks(struct batch *batch);

/** `exit`: why no further case began; DONE: all did, or one failed. Returns that of the batch. */
enum exit_code batch_end(struct batch *batch, enum exit_code exit);

void batch_finish(struct batch *batch);

#endif /* CLI_BATCH_BATCH_H */
