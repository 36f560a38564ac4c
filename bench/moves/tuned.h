/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the library with a tuning file of `mlictl calibrate --kernels` and with its
 * defaults. */
#ifndef BENCH_TUNED_H
#define BENCH_TUNED_H

#include "bench/moves/bench_result.h"
#include "mli_tuning.h"

struct tuned {
    mli_tuning defaults; /* default values for the caches of this machine */
    mli_tuning values;   /* values of the file */
};

/* Reads a file. Returns 0, or -1 after a message. */
int tuned_load(struct tuned *tuned, const char *path);

/* Lists the values that differ from the defaults. */
void tuned_print(const struct tuned *tuned);

/* Prints how the calibrated cells compare with the defaults and with the peers. */
void tuned_verdict(const struct result_list *list);

#endif
