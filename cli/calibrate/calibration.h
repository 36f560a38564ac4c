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
 * gets the figures of the cost model (target/fit/formula_fit.h).
 *
 * kernel_search.h, the thresholds of libmli's kernels, shares only the command.
 */
#ifndef CLI_CALIBRATE_CALIBRATION_H
#define CLI_CALIBRATE_CALIBRATION_H

#include "cli/calibrate/sweep.h"
#include "cli/term/print.h"
#include "target/fit/formula_fit.h"
#include "target/profile/target_profile.h"

struct calibration_rules {
    const char *engine; /* specification for mli_mov_set_engine() */
    uint64_t seed;
    uint64_t time_ns; /* time of the sweep */
    size_t check;     /* most moves of the check, which takes at most time_ns too */
    const char *date; /* for the sources of figures */
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

/* A move of the check. */
struct checked_move {
    enum move_class class;
    enum sweep_kind kind;
    double formula, predicted, measured; /* cycles; formula: without trees */
};

struct calibration {
    struct target_profile profile; /* in: the profile to begin with; out: the fitted profile */
    char engine[64];               /* name of the engine */
    bool processor;                /* true: the profile gets the costs of a processor */
    size_t moves;                  /* measured moves of the sweep */
    size_t left_out;               /* moves that the check left out, because they were disturbed */
    double seconds;                /* time of the sweep */
    double repeat;                 /* median difference of two rounds of one move */
    double error[FORMULA_FIGURES]; /* not a processor: standard errors of the figures in cycles */
    struct checked_move *checked;
    double *errors; /* room for an error of each checked move */
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

/* A choice of checked moves. */
struct error_filter {
    int class, kind; /* enum move_class, enum sweep_kind; -1: all */
    double from, to; /* measured cycles; to 0: no limit */
    bool formula;    /* true: errors of the formula without trees */
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

#endif /* CLI_CALIBRATE_CALIBRATION_H */
