/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the tuning of libmli's kernels for this machine. Three parts, each with a share of the
 * time:
 *
 *   1. Sizes: block sizes, stage sizes and prefetch distances (kernel_sizes[]). Each has a few
 *      candidates and the moves that depend on it.
 *   2. Thresholds of streaming: each move at many sizes, streamed and not.
 *   3. Confirmation: each changed value again, against its default, at other places in memory.
 *
 * A value replaces its default only if the moves that depend on it gain at least 3 % on average and
 * at most an eighth of them lose more than 2 %, and if the confirmation, too, finds a mean gain
 * of at least 3 % and no loss above 3 %.
 *
 * To measure another size, start here: a row in kernel_sizes[] of kernel_search.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/calibrate/kernel_moves.h"
#include "cli/term/exit_code.h"
#include "cli/term/print.h"
#include "mli_tuning.h"
#include "target/tuning/tuning_file.h"

enum { KERNEL_CANDIDATES = 5, KERNEL_PROBES = 4 };

/* A tuning value, the candidates for it, and the moves that depend on it. */
struct kernel_size {
    const char *field;
    const char *level; /* level of kernels that uses the value; null: all levels use it */
    bool streamed;     /* true: the value is measured with all moves streamed */
    uint32_t candidates[KERNEL_CANDIDATES]; /* 0 ends the list */
    struct {
        const char *shape;
        uint32_t elem, kib;
    } probes[KERNEL_PROBES]; /* a null name ends the list */
};

/** All sizes; the last has a null field. */
extern const struct kernel_size kernel_sizes[];

/* The result for one value. */
enum kernel_verdict {
    KERNEL_KEPT,       /* measured; no candidate was better */
    KERNEL_CHANGED,    /* measured and confirmed */
    KERNEL_UNSURE,     /* a candidate was better, but the confirmation did not find it better */
    KERNEL_UNMEASURED, /* the time was too short */
    KERNEL_ABSENT,     /* no kernel of this level depends on the value */
};

/* The result of a search. */
struct kernel_search {
    mli_tuning tuning, defaults;
    enum kernel_verdict verdict[TUNING_FIELDS];
    double gain[TUNING_FIELDS]; /* KERNEL_CHANGED: share of the time that the new value saves in the
                                   confirmation */
    bool incomplete; /* true: the time was too short to measure all values that kernels use here */
};

/* A callback for the progress of the search: `done` is between 0 and 1. */
struct kernel_progress {
    void (*show)(void *context, const char *what, double done);
    void *context;
};

/**
 * Searches for about `seconds`. Returns 0, or -1 with *fault filled: a signal (FAULT_CANCELLED), no
 * memory, or a move that the library refuses. Restores the tuning of the process.
 */
int kernel_search_run(struct kernel_search *search, const mli_tuning *defaults, uint64_t seconds,
                      const struct kernel_progress *progress, struct fault *fault);

/* mlictl calibrate --kernels: measures the thresholds of libmli's kernels on this machine. */

/**
 * Measures for about `seconds`, prints the result, and writes the file `output` unless it is null.
 * Returns the exit code.
 */
enum exit_code calibrate_kernels(const struct print_style *style, const char *output,
                                 uint64_t seconds);
