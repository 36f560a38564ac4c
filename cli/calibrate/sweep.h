/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sweep measures random moves in batches. Each batch is measured in two to four rounds, each in
 * another random order, and the shortest time of a move counts: a processor that is shared slows
 * down for some milliseconds at a time. A move leaves the rounds when two measurements, of which at
 * least one is quiet (struct measure), differ by less than 2 %. If the two shortest times of a move
 * differ by more than 5 % after all rounds, only a dense sweep keeps the move: a fit can use it.
 */
#ifndef CLI_CALIBRATE_SWEEP_H
#define CLI_CALIBRATE_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "mli_mov_api.h"
#include "mli_plan.h"
#include "proto/json/fault.h"
#include "target/fit/measured_fit.h"

/*
 * Random moves for measuring, determined by a seed and an index. They are like the moves of neural
 * networks, in contrast to the moves of mlictl selftest, which look for mistakes:
 *
 *   elements  1, 2 or 4 bytes
 *   size      1 KiB to max_bytes, all magnitudes with equal probability
 *   shape     rank 1 to 4; half of the tensors have a usual number of channels (3, 16, 32, ..)
 *   kind      copy, slice, concat, subsample, permute, pad, or a combination, each as often
 *   strides   packed; a quarter of the tensors have a gap after each row of one dimension
 *   address   75 % of the tensors begin at a cache line, 25 % at any element
 */

/* X(name): the kinds of moves. */
#define SWEEP_KINDS(X)                                                                             \
    X(copy)                                                                                        \
    X(slice)                                                                                       \
    X(concat)                                                                                      \
    X(subsample)                                                                                   \
    X(permute)                                                                                     \
    X(pad)                                                                                         \
    X(combined)

enum sweep_kind {
#define SWEEP_KIND_ENUM(name) SWEEP_##name,
    SWEEP_KINDS(SWEEP_KIND_ENUM)
#undef SWEEP_KIND_ENUM
        SWEEP_KIND_COUNT
};

enum { SWEEP_SLACK = 4096 }; /* the largest offset of a tensor in its buffer */

const char *sweep_kind_name(enum sweep_kind kind);

/*
 * Measures single moves on the engine behind the channel pool, with warm caches: a move runs once
 * unmeasured on the same buffers, then several times. A run begins with mli_mov_start()
 * and ends when mli_mov_wait() returns. Short moves run in groups of at least 10 us, because
 * reading the clock takes time. If the calling thread moves the bytes, the time of moves that take
 * longer than 100 us is the time for which the thread ran: other programs that ran meanwhile do not
 * count.
 */

struct measure {
    uint8_t *src, *dst; /* buffers of `bytes` bytes, in pages of 4096 bytes */
    size_t bytes;
    uint64_t src_address, dst_address; /* addresses of the buffers in plans */
    bool by_thread;                    /* true: the calling thread moves the bytes */
    double probe_ns;                   /* shortest time of the probe */
    uint64_t (*now_ns)(void);          /* clock_ns(), or a simulated clock */
};

/** Sets up a measurement with the monotonic clock and buffers for moves of at most `max_bytes`.
 * Returns 0, or -1 with the fault. */
int measure_init(struct measure *measure, uint64_t max_bytes, struct fault *fault);
void measure_finish(struct measure *measure);

/* The moves of a sweep. */
struct sweep_rules {
    uint64_t seed, max_bytes;
    size_t count;       /* number of moves; 0: no limit */
    uint64_t time_ns;   /* the sweep ends after the batch in which this time passes; 0: no limit */
    bool dense;         /* true: few copies of one run and few large moves, more of all others */
    double clock_hz;    /* for cycles */
    bool (*stop)(void); /* returns true to stop early; or null */
    void (*progress)(void *context, double done, size_t moves); /* done: 0 to 1; or null */
    void *context;
};

struct sweep {
    struct measured_move *moves;
    uint8_t *kinds; /* enum sweep_kind of each move */
    size_t count, capacity;
    double repeat;   /* median of second shortest / shortest round - 1 */
    size_t left_out; /* moves with measurements that differ too much */
    bool stopped;    /* `stop` returned true */
};

/** Measures moves. Returns 0 or -1 with the fault; call sweep_finish() in both cases. */
int sweep_run(struct sweep *sweep, struct measure *measure, const struct sweep_rules *rules,
              struct fault *fault);
void sweep_finish(struct sweep *sweep);

#endif /* CLI_CALIBRATE_SWEEP_H */
