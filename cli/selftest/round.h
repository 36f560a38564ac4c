/* SPDX-License-Identifier: BSD-3-Clause */
/* All cases on one engine. */
#ifndef CLI_SELFTEST_ROUND_H
#define CLI_SELFTEST_ROUND_H

#include "cli/selftest/selftest_transfer.h"

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
    struct case_limits limits; /* limits.channels: channels of the pool, or fewer */
};

enum { ROUND_FAILURES_SHOWN = 3 };

struct round {
    const struct round_plan *plan;
    const char *engine; /* engine as given to mli_mov_set_engine() */
    uint32_t channels;
    /* Called for the first ROUND_FAILURES_SHOWN failures; calls do not overlap. */
    void (*on_failure)(void *context, const struct round *round, const struct failure *failure);
    void *context;

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

/** Draws the line at intervals, once the round takes long. The round is locked, or has no threads.
 */
void round_progress_show(struct round_progress *progress, const struct round *round);
void round_progress_clear(struct round_progress *progress);

#endif /* CLI_SELFTEST_ROUND_H */
