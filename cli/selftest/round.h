/* SPDX-License-Identifier: BSD-3-Clause */
/* All cases on one engine. */
#ifndef CLI_SELFTEST_ROUND_H
#define CLI_SELFTEST_ROUND_H

#include "cli/selftest/selftest_transfer.h"

/* What the command line asks for. */
struct round_plan {
    uint64_t seed;
    bool only_one; /* case `only` every time; else 0, 1, 2, ... */
    uint64_t only;
    uint64_t iterations; /* cases for each engine; UINT64_MAX: as many as there is time for */
    uint64_t round_ns;   /* time for each engine; 0: no limit */
    uint64_t timeout_ns; /* of a transfer */
    uint32_t threads;
    bool fail_fast, progress;
    struct case_limits limits; /* its channels are the pool's, where the engine has them */
};

enum { ROUND_FAILURES_TOLD = 3 };

struct round {
    const struct round_plan *plan;
    const char *engine; /* as given to mli_mov_set_engine() */
    uint32_t channels;
    /* To be told of each of the first failures; calls do not overlap. */
    void (*on_failure)(void *context, const struct round *round, const struct failure *failure);
    void *context;

    atomic_bool stop;
    _Atomic uint64_t taken; /* cases */
    uint64_t begin_ns;

    pthread_mutex_t mutex; /* for all below */
    pthread_cond_t left;
    uint32_t workers; /* still there */
    uint64_t cases, bytes, moving_ns, busy_claims, failures, stuck;
    uint32_t overdue; /* failures that took, or may have taken, a whole timeout */
    uint64_t channel_starts, channel_bytes; /* without synchronous moves */
    uint64_t sync_bytes;
    struct failure told[ROUND_FAILURES_TOLD];
    bool lost;   /* a call has never returned: the library cannot be used any more */
    bool closed; /* nothing counts any more, and nothing is told: what there is can be read */
    mli_mov_channel_stats stats[MLI_MOV_MAX_CHANNELS];
};

enum round_end {
    ROUND_DONE,
    ROUND_REFUSED, /* no such engine, no device, or no channels: mli_last_error() tells */
    ROUND_FAILED   /* no memory or threads, which was said on stderr */
};

/**
 * Chooses the engine, gives it channels, and runs the cases, watching over them. round_finish() is
 * legal after all ends.
 */
enum round_end round_run(struct round *round);
void round_finish(struct round *round);

#endif /* CLI_SELFTEST_ROUND_H */
