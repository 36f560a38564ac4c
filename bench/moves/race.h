/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times several contenders at one job, each sample beside a sample of memcpy. The first contender
 * decides the number of rounds; contenders that are much slower drop out.
 */
#ifndef BENCH_RACE_H
#define BENCH_RACE_H

#include "bench/moves/bench_peer.h"
#include "bench/moves/figure.h"
#include "bench/moves/memory.h"

enum { RACE_CONTENDERS = 2 + PEER_MAX, RACE_ROUNDS = 1001 };

/* From this many bytes on the caches are evicted before every sample. */
#define RACE_COLD ((size_t)64 << 20)

enum outcome { RACE_CANNOT, RACE_TIMED, RACE_DIFFERS, RACE_FAILED };

struct contender {
    const struct peer *peer;
    bool masked; /* `mask` is set before each sample */
    uint32_t mask;
    bool unchecked; /* the race does not compare the destination */
    bool sits_out;  /* does not take part */
    /* results */
    enum outcome outcome;
    struct figure ratio; /* in times of memcpy; count 0: much slower, dropped out */
    double ns;           /* of the fastest sample */
    int64_t differs_at;  /* offset of the first wrong byte in the destination */
    uint8_t values[2];   /* value found and value expected there */
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
    double budget; /* nanoseconds; min and max override it */
    bool spoil;
    /* results */
    double memcpy_ns; /* median */
    int interrupted;  /* samples interrupted by other processes */
    /* private */
    double end;
};

void race_run(struct race *r);

#endif
