/* SPDX-License-Identifier: BSD-3-Clause */
/* Times single calls on a tensor of 8x8x8 bytes, checks and planning included. */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include <stdbool.h>

enum { CALLS_KINDS = 6 };

struct calls {
    struct {
        const char *name;
        double ns;     /* nanoseconds of the best round */
        double goal;   /* goal in nanoseconds; 0: no goal */
    } at[CALLS_KINDS]; /* results of the calls; the first call is memcpy */
    int count;
};

/* Measures the calls. Returns 0, or -1 after a message. */
int calls_measure(struct calls *c, bool quick);
void calls_print(const struct calls *c);

#endif
