/* SPDX-License-Identifier: BSD-3-Clause */
/* Times single calls on a tensor of 8x8x8 bytes, checks and planning included. */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include <stdbool.h>

enum { CALLS_KINDS = 6 };

struct calls {
    struct {
        const char *name;
        double ns;     /* of the best round */
        double goal;   /* ns; 0: none */
    } at[CALLS_KINDS]; /* the first call is memcpy */
    int count;
};

/* Returns 0, or -1 after a message. */
int calls_measure(struct calls *c, bool quick);
void calls_print(const struct calls *c);

#endif
