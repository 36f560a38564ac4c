/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mlictl calibrate: measures moves on an engine, fits the costs of a target profile to them, and
 * checks the profile with other moves. The data flow:
 *
 *     seed, index -> sweep.c        a random move; timed, repeated and chosen
 *                 -> target/fit     the figures of the profile
 *                 -> profile text   read again, so that the check tests what the file says
 *                 -> check          moves of another seed: predicted and measured
 *
 * The processor (engines inline and threads) gets the costs of measured_costs.h; a DMA controller
 * gets the figures of the cost model (target/fit/fit.h).
 *
 * The same command also searches thresholds of libmli's kernels: kernel_search.h, which shares no
 * code with the files above.
 */
#pragma once

#include "cli/term/print.h"
#include "mli_plan.h"
#include "target/fit/fit.h"
#include "target/profile/target_profile.h"

/*
 * Random moves for measuring, determined by a seed and an index. They are like the moves of neural
 * networks, in contrast to the moves of mlictl selftest, which look for mistakes:
 *
 *   elements  1, 2 or 4 bytes
 *   size      1 KiB to max_bytes, all magnitudes with equal probability
 *   shape     rank 1 to 4; half of the tensors have a usual number of channels (3, 16, 32, ..)
 *   kind      copy, slice, concat, subsample, permute, pad, or a combination: equally probable
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
    uint8_t *src, *dst; /* buffers of `bytes` bytes; huge pages are disabled for them */
    size_t bytes;
    uint64_t src_address, dst_address; /* addresses of the buffers in the plans of moves */
    bool by_thread;                    /* true: the calling thread moves the bytes */
    double probe_ns;                   /* shortest time of the probe: a copy whose time shows
                                          whether other programs share the processor */
    uint64_t (*now_ns)(void);          /* clock_ns(), or a simulated clock */
};

/** Sets up a measurement with the monotonic clock and buffers for moves of at most `max_bytes`.
 * Returns 0, or -1 with the fault. */
int measure_init(struct measure *measure, uint64_t max_bytes, struct fault *fault);
void measure_finish(struct measure *measure);

/*
 * A sweep measures random moves in batches. Each batch is measured in two to four rounds, each in
 * another random order, and the shortest time of a move counts: a processor that is shared slows
 * down for some milliseconds at a time. Later rounds omit a move if its two shortest times differ
 * by less than 2 % and at least one of its measurements was quiet (struct measured_ns). If the two
 * shortest times differ by more than 5 % after all rounds, the sweep drops the move; a dense sweep
 * keeps it, because a fit can use it.
 */
struct sweep_rules {
    uint64_t seed, max_bytes;
    size_t count;     /* number of moves; 0: no limit */
    uint64_t time_ns; /* the sweep ends after the batch in which this time passes; 0: no limit */
    bool dense;       /* true: leaves out most large moves and most copies of a contiguous block, to
                         measure more of the other moves */
    double clock_hz;  /* for cycles */
    bool (*stop)(void); /* returns true to stop early; or null */
    void (*progress)(void *context, double done, size_t moves); /* may be null; 0 <= done <= 1 */
    void *context;
};

struct sweep {
    struct measured_move *moves;
    uint8_t *kinds; /* enum sweep_kind of each move */
    size_t count, capacity;
    double repeat;   /* median of: second shortest time / shortest time - 1 */
    size_t left_out; /* dropped moves: their measurements differ too much */
    bool stopped;    /* `stop` returned true */
};

/** Measures moves. Returns 0 or -1 with the fault; call sweep_finish() in both cases. */
int sweep_run(struct sweep *sweep, struct measure *measure, const struct sweep_rules *rules,
              struct fault *fault);
void sweep_finish(struct sweep *sweep);

/** Sorts numbers, the smallest first. */
void sort_doubles(double *values, size_t count);

struct calibration_rules {
    const char *engine; /* specification for mli_mov_set_engine() */
    uint64_t seed;
    uint64_t time_ns; /* time of the sweep */
    size_t check;     /* maximum number of moves of the check, which also takes at most time_ns */
    const char *date; /* date of the measurement, for the texts that cite it */
    bool (*stop)(void);
    /* `step` is a word for the progress line */
    void (*progress)(void *context, const char *step, double done, size_t moves);
    void *context;
    uint64_t (*now_ns)(void); /* clock of an engine that simulates time; null: the system's */
};

/* Errors of predictions: |predicted / measured - 1|. */
struct error_summary {
    size_t moves;
    double median, p95;
};

/* A move that checks the fitted profile: its predicted time and its measured time. */
struct checked_move {
    enum move_class class;
    enum sweep_kind kind;
    double formula, predicted, measured; /* times in cycles; `formula` ignores decision trees */
};

struct calibration {
    struct target_profile profile; /* in: the profile to begin with; out: the fitted profile */
    char engine[64];               /* name of the engine */
    bool processor;                /* true: the profile gets the costs of a processor */
    size_t moves;                  /* measured moves of the sweep */
    size_t left_out;               /* moves that the check left out, because they were disturbed */
    double seconds;                /* time of the sweep */
    double repeat;                 /* median difference between two measurements of one move */
    double error[FORMULA_FIGURES]; /* standard errors of the figures in cycles; unused for a
                                      processor */
    struct checked_move *checked;
    double *errors; /* array with space for the error of each checked move */
    size_t checked_count;
    struct error_summary formula, all, class[MOVE_CLASSES], kind[SWEEP_KIND_COUNT];
    bool stopped;
};

/** Calibrates. Returns 0 or -1 with the fault; call calibration_finish() in both cases. */
int calibration_run(struct calibration *calibration, const struct calibration_rules *rules,
                    struct fault *fault);
void calibration_finish(struct calibration *calibration);

/** Writes the text of the fitted profile. */
void calibration_write(struct jsonw *w, const struct calibration *calibration);

/* Selects some of the measured moves, by class, kind and time. */
struct error_filter {
    int class, kind; /* enum move_class, enum sweep_kind; -1: all classes or kinds */
    double from, to; /* range of measured cycles; `to` is 0: no upper limit */
    bool formula;    /* true: errors of the formula without decision trees */
};

/** Summarises the errors of the chosen moves. Overwrites calibration->errors. */
struct error_summary calibration_errors(const struct calibration *calibration,
                                        const struct error_filter *filter);

/* The result of a calibration, for people and as JSON. */

/** Writes the figures, and the errors of the check. `output` is the path of the profile or null. */
void calibration_text(struct textw *w, const struct calibration *calibration, const char *output);

/** Writes figures and errors as one object. */
void calibration_json(struct jsonw *w, const struct calibration *calibration, uint64_t seed,
                      const char *output);
