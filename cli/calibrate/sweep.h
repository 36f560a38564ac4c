/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sweep measures random moves in batches. Each batch is measured in two to four rounds, each in
 * another random order, and the shortest time of a move counts: a processor that is shared slows
 * down for some milliseconds at a time. A move leaves the rounds when two measurements, of which at
 * least one is quiet (measure.h), differ by less than 2 %. If the two shortest times of a move
 * differ by more than 5 % after all rounds, only a dense sweep keeps the move: a fit can use it.
 */
#ifndef CLI_CALIBRATE_SWEEP_H
#define CLI_CALIBRATE_SWEEP_H

#include "cli/calibrate/measure.h"
#include "target/fit/measured_fit.h"

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
