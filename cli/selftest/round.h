/* SPDX-License-Identifier: BSD-3-Clause */
/* All cases on one engine. */
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/selftest/failure.h"
#include "cli/selftest/selftest_case.h"
#include "cli/term/print.h"
#include "mli_engine.h"
#include "mli_mov_api.h"

/* The options of all rounds. */
struct round_plan {
    uint64_t seed;
    bool only_one; /* true: repeat case `only`; false: run cases 0, 1, 2, ... */
    uint64_t only;
    uint64_t iterations; /* cases for each engine; UINT64_MAX: as many as fit into round_ns */
    uint64_t round_ns;   /* time for each engine; 0: no limit */
    uint64_t timeout_ns; /* time limit of a transfer */
    uint32_t threads;
    bool fail_fast, progress;
    struct case_limits limits; /* limits.channels: requested channels; the pool may have fewer */
};

enum { ROUND_FAILURES_SHOWN = 3 };

struct selftest_report;

struct round {
    const struct round_plan *plan;
    const char *engine; /* engine as given to mli_mov_set_engine() */
    uint32_t channels;
    struct selftest_report *report; /* gets the first ROUND_FAILURES_SHOWN failures */

    atomic_bool stop;
    uint64_t begin_ns;

    pthread_mutex_t mutex; /* protects all members below */
    pthread_cond_t left;
    uint64_t taken;   /* number of cases begun */
    uint32_t workers; /* workers that have not left */
    uint64_t cases, bytes, moving_ns, busy_claims, failures, stuck;
    uint32_t overdue;                       /* failures that may have taken a whole timeout */
    uint64_t channel_starts, channel_bytes; /* sums without synchronous moves */
    uint64_t sync_bytes;
    struct failure shown[ROUND_FAILURES_SHOWN];
    bool lost;   /* true: a call has not returned, and the library is unusable */
    bool closed; /* true: a worker is lost; later results are ignored, the counters are final */
    mli_mov_channel_stats stats[MLI_MOV_MAX_CHANNELS];
};

enum round_end {
    ROUND_DONE,
    ROUND_REFUSED, /* no such engine, no device, or no channels: see mli_last_error() */
    ROUND_FAILED   /* no memory or threads; an error is printed */
};

/**
 * Sets the engine, creates its channels, runs the cases and cancels stuck cases. round_finish() is
 * legal after all results.
 */
enum round_end round_run(struct round *round);
void round_finish(struct round *round);

/* A line on a terminal with the progress of a round. */
struct round_progress {
    bool shown;
    uint64_t shown_ns;
};

/** Draws the progress line from time to time if the round takes long. The caller has locked
 * the round, or the round has no threads. */
void round_progress_show(struct round_progress *progress, const struct round *round);
void round_progress_clear(struct round_progress *progress);

/* A case, carried out through the public API on the current engine. */

/* A call into the library, watched by another thread: after a timeout the transfer is cancelled; a
 * call that does not return even then is lost. */

struct flight {
    pthread_mutex_t mutex;
    bool flying, has_handle;
    mli_mov_handle_t handle; /* a copy */
    uint64_t since_ns;
    bool expired, interrupted; /* the call was cancelled by the timeout; by the user (^C) */
    uint64_t cancelled_ns;
};

void flight_init(struct flight *flight);
void flight_finish(struct flight *flight);

/** Cancels an overdue call; the watching thread calls this repeatedly. Returns whether the call is
 *  lost. */
bool flight_watch(struct flight *flight, uint64_t timeout_ns, bool interrupt);

/* The largest number of workers. */
#define MAILBOXES_MAX 64

/* Counts the calls of a completion callback. Each worker has one mailbox; the cookie names the
 * mailbox and the transfer, so that a late or a second call is noticed. */
struct mailbox {
    sem_t called;
    uint32_t number;
    uint32_t sequence;          /* makes each cookie different */
    _Atomic int32_t cookie;     /* the registered cookie */
    mli_mov_handle_t *handle;   /* handle of the worker's transfer */
    uint32_t chain;             /* how often the callback starts the transfer */
    atomic_bool over;           /* true: the last call has come */
    _Atomic uint32_t calls;     /* number of calls with the right cookie */
    _Atomic uint32_t strays;    /* number of calls with a wrong cookie */
    _Atomic uint32_t early;     /* number of calls before mli_mov_isdone() was true */
    _Atomic uint32_t unstarted; /* number of starts by the callback that were refused */
};

/* The arguments and the results of one case. */
struct transfer {
    const struct move_case *c;
    struct flight *flight;
    struct mailbox *mailbox;
    const atomic_bool *stop; /* true: stop waiting for channels */
    uint32_t channels;       /* channels of the pool */
    uint64_t timeout_ns;
    struct failure *failure;

    mli_tensor src, dst; /* tensors whose data is allocated */
    mli_mov_handle_t handle;
    uint64_t moving_ns;   /* time from start to done */
    uint64_t starts;      /* number of starts on channels */
    uint64_t busy_claims; /* claims that were refused because too few channels were free */
    bool interrupted;     /* true: the user stopped the test; the case has no result */
};

/** Returns the mailbox of worker 0 .. MAILBOXES_MAX - 1. Static storage. */
struct mailbox *mailbox_of(uint32_t worker);

/** Moves images->src to images->dst. Returns 0, or -1 with t->failure or t->interrupted set. */
int transfer_run(struct transfer *t, const struct images *images);

/* The report of a selftest: failures as they occur, then a line or an object for each engine. */

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

/** Counts a failure. Prints the first few failures, and writes the case of one failure as a job
 * file. */
void selftest_report_failure(struct round *round, const struct failure *failure);

/** Prints the result of a round. Returns EXIT_CODE_FAILED if it has failures, else DONE. */
enum exit_code selftest_report_round(const struct selftest_report *report,
                                     const struct round *round);

/** Prints that an engine is not available. */
void selftest_report_skipped(const struct selftest_report *report, const struct round *round,
                             const char *why);

/* The rounds of all engines. */

enum { SELFTEST_ENGINES_MAX = 3 * MLI_ENGINES_MAX, SELFTEST_SPEC_MAX = 128 };

struct selftest_engines {
    size_t count;
    char specs[SELFTEST_ENGINES_MAX][SELFTEST_SPEC_MAX];
};

/** Adds an engine; the three parts together are its specification. */
void selftest_engines_add(struct selftest_engines *engines, const char *before, const char *name,
                          const char *after);

/** Runs the round of an engine and reports its end. Sets *stop if no other engine can be tested. */
typedef enum exit_code selftest_test(struct round *round, void *context, bool *stop);

/**
 * Calls `test` for each engine, until ^C or, with plan->fail_fast, a failure. The engines share
 * `seconds` seconds; 0: no limit. Returns the first exit code that is not EXIT_CODE_DONE.
 */
enum exit_code selftest_run(struct selftest_report *report, struct round_plan *plan,
                            const struct selftest_engines *engines, uint64_t seconds,
                            selftest_test *test, void *context);
