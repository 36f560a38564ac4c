/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `mlictl batch`: runs job files as test cases.
 *
 *     PATH... -> cases -> workers -> attempts -> results -> cli/report: reports, state file
 *
 *     cases.h        finds the job files of the PATH arguments and names the cases
 *     resume.h       --resume: selects the cases that have no valid result yet
 *     source.c, source_queue.c   where the workers get their cases from
 *     workers.h      threads; each takes a case and repeats attempts until its verdict
 *     connector.h    the connections of the workers to a daemon or to the service in this process
 *     attempt.h      runs the jobs of a case once, compares the results, writes golden files
 *     kept.h         --keep: copies failed cases into directories of their own
 *     goldens.h      removes GOLDEN.new of cases that pass again; --unused
 *     queue_commands.c the commands for a queue on a Redis server
 *     batch_options.h  the options of the command and all its forms
 *     batch.h        one run: decides which cases run and records their results
 *
 * cli/report has the results as plain data, the state file and the reports (report.h). It includes
 * no header of this folder; tests/source/check_includes.py checks that.
 *
 * To add a batch option, start in batch_options.h; a form of report, in cli/report/report.h.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "cli/batch/batch_options.h"
#include "cli/batch/cases.h"
#include "cli/batch/workers.h"
#include "cli/options.h"
#include "cli/report/fingerprint.h"
#include "cli/report/report.h"
#include "cli/report/result.h"
#include "cli/report/state_file.h"

/* The options of `mlictl batch` that select cases and control how they run. */
struct batch_settings {
    uint32_t workers;
    uint32_t channels; /* channels of the service in this process; 0: all channels of its engine */
    struct shard shard;
    struct trial_plan trial;
    /* DIR of --keep, or the default DIR even with --keep none; it is not searched for cases. */
    const char *keep;
    const char *resume; /* path of the state file; NULL without --resume */
    bool whole;         /* true: neither --filter nor --shard was given */
    bool rerun, list, unused, fail_fast, flaky_is_good;
    bool queue; /* --queue: a queue on a server has the cases */
    bool open;  /* true: the lines of standard input are the cases */
};

/**
 * Reads the options, and refuses those that cannot be combined. Returns 0, or -1 after a message.
 * The settings borrow strings of the options.
 */
int batch_settings_read(struct batch_settings *settings, const struct options *options);

/* One run. A single thread uses it; only repeat_now is shared with the workers. */
struct batch {
    const struct batch_settings *settings;
    struct cases *cases;
    struct batch_outline outline;
    struct batch_summary summary;
    struct batch_report *report;
    struct state_file state_file;
    struct contents *contents; /* checksums of input files; NULL without a state file or queue */
    bool has_state_file;
    bool write_failed; /* true: writing the state file failed, and no further line is written */
    bool refused;      /* true: a case of standard input was refused */
    bool has_new;      /* true: GOLDEN.new exists for a case that passed */
    bool complained;   /* true: a failure of --keep was printed, and later failures are not */
    struct batch_case **todo; /* the cases to run, without those that have a known result */
    size_t todo_count;
    size_t next; /* index of the first case whose result the reports sorted by name do not have */
    const struct run_setup *setup;
    uint64_t begin_ns;
    struct timespec begin;  /* start of the run, in the time of the file system's clock */
    atomic_uint repeat_now; /* number of the newest attempt of any worker; 0: no attempt yet */
};

/**
 * Chooses the cases to run: the cases of the shard, from `cases` (sorted, filtered), that have no
 * valid result in the state file. `setup` is only read with a state file. Returns DONE, or another
 * code after printing an error. batch_finish() is required in both cases.
 */
enum exit_code batch_open(struct batch *batch, const struct batch_settings *settings,
                          struct cases *cases, const struct options *options,
                          const struct run_setup *setup);

/**
 * Decides whether a case of an open run runs. Leaves out a case of another shard and a case that
 * --filter does not select; refuses a case whose files this run would remove. Sets
 * batch_case->known if the earlier result of the case is valid. `context` is the batch. Workers
 * may call it, one at a time.
 */
enum admission batch_admit(void *context, struct batch_case *batch_case, struct fault *fault);

/** Refuses a case in a kept directory: a run must not remove the files that it reads. Returns 0 or
 * -1. */
int batch_check_kept(const struct batch_settings *settings, const struct batch_case *batch_case,
                     struct fault *fault);

/**
 * Starts the reports and the state file with the earlier results that are still valid. Returns 0,
 * or -1 after printing why the state file cannot be written.
 */
int batch_begin(struct batch *batch);

/** Returns the callbacks that record the results of the workers. */
struct workers_callbacks batch_callbacks(struct batch *batch);

/**
 * Ends reports and state file and removes obsolete kept cases. `exit` is the result of
 * workers_run(); `whole` is false if an open run did not reach the end of its cases. Returns the
 * exit code of the run.
 */
enum exit_code batch_end(struct batch *batch, enum exit_code exit, bool whole);

void batch_finish(struct batch *batch);

/* The commands for a queue: queue_commands.c, or queue_absent.c in a build without hiredis. */

/** Opens the queue of the options; `shown` becomes its URL without the password. Hides the password
 * in the command line of the process. Returns 0, or -1 with the fault filled. */
int batch_queue_open(const struct options *options, struct queue **queue,
                     char shown[QUEUE_SHOWN_MAX], struct fault *fault);

enum exit_code batch_enqueue(const struct options *options);
enum exit_code batch_show_status(const struct options *options);
enum exit_code batch_collect(const struct options *options);
