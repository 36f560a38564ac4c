/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures single moves on the engine behind the channel pool, with warm caches: a move runs once
 * unmeasured on the same buffers, then several times. A run begins with mli_mov_start()
 * and ends when mli_mov_wait() returns. Short moves run in groups of at least 10 us, because
 * reading the clock takes time. If the calling thread moves the bytes, the time of moves that take
 * longer than 100 us is the time for which the thread ran: other programs that ran meanwhile do not
 * count.
 */
#ifndef CLI_CALIBRATE_MEASURE_H
#define CLI_CALIBRATE_MEASURE_H

#include <stdbool.h>

#include "cli/calibrate/sweep_move.h"
#include "mli_plan.h"
#include "proto/json/fault.h"

struct measure {
    uint8_t *src, *dst; /* buffers of `bytes` bytes, in pages of 4096 bytes */
    size_t bytes;
    uint64_t src_address, dst_address; /* addresses of the buffers in plans */
    bool by_thread;                    /* true: the calling thread moves the bytes */
    double probe_ns;                   /* shortest time of the probe */
    uint64_t (*now_ns)(void);          /* measure_now_ns(), or a simulated clock */
};

/** Returns the time of a monotonic clock. */
uint64_t measure_now_ns(void);

/** Sets up a measurement with the monotonic clock and buffers for moves of at most `max_bytes`.
 * Returns 0, or -1 with the fault. */
int measure_init(struct measure *measure, uint64_t max_bytes, struct fault *fault);
void measure_finish(struct measure *measure);

/** Gives the tensors of a move their buffers, and sets *plan to its plan. Returns 0 or -1
 * (refused). */
int measure_plan(const struct measure *measure, struct sweep_move *move, struct mli_plan *plan);

/* The time of a move. */
struct measured_ns {
    double ns;  /* the shortest of several runs */
    bool quiet; /* true: the processor was as fast as ever before and after the runs */
};

/**
 * Measures a move after measure_plan(). Before and after the runs it measures a probe, a copy in
 * the first-level cache, which is slower while other programs share the processor. Returns 0, or -1
 * with the fault.
 */
int measure_move(struct measure *measure, struct sweep_move *move, struct measured_ns *time,
                 struct fault *fault);

#endif /* CLI_CALIBRATE_MEASURE_H */
