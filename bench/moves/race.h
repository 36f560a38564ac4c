/* SPDX-License-Identifier: BSD-3-Clause */
/* Times several contenders at one job, each sample right after a sample of memcpy. The first
 * contender decides the number of rounds; contenders that are much slower drop out. */
#ifndef BENCH_RACE_H
#define BENCH_RACE_H

#include "bench/moves/bench_peer.h"
#include "bench/moves/figure.h"
#include "bench/moves/memory.h"
#include "mli_tuning.h"

enum { RACE_CONTENDERS = 3 + PEER_MAX, RACE_ROUNDS = 1001 };

/* From this number of bytes on, the caches are evicted before every sample. */
#define RACE_COLD ((size_t)64 << 20)

enum outcome { RACE_CANNOT, RACE_TIMED, RACE_DIFFERS, RACE_FAILED };

struct contender {
    const struct peer *peer;
    bool masked; /* true: mli_cpu_set_mask(mask) is called before each sample */
    uint32_t mask;
    const mli_tuning *tuning; /* set before each sample; null: the tuning is not changed */
    bool unchecked;           /* true: the race does not compare the destination */
    bool sits_out;            /* true: the contender does not take part */
    /* results */
    enum outcome outcome;
    struct figure ratio;  /* time / memcpy's time; count 0: dropped out, because it was too slow */
    double against_first; /* median over the rounds of (its time / time of the first contender); 0:
                             dropped out */
    double ns;            /* nanoseconds of the fastest sample */
    int64_t differs_at;   /* offset of the first wrong byte in the destination */
    uint8_t values[2];    /* the value found and the value expected at that offset */
    /* private */
    void *state;
    size_t repeat;
    double once;
    bool out;
    double *samples;
};

struct race {
    struct memory *memory;
    struct job *job;
    struct contender at[RACE_CONTENDERS];
    int count;
    int rounds_min, rounds_max;
    double budget; /* time budget in nanoseconds; min and max override it */
    bool spoil;
    /* results */
    double memcpy_ns; /* median */
    int interrupted;  /* number of samples interrupted by other processes */
    /* private */
    double end;
};

void race_run(struct race *r);

#endif
