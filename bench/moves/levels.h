/* SPDX-License-Identifier: BSD-3-Clause */
/* The listed cases at each level of kernels, and as element loops: geometric means. */
#ifndef BENCH_LEVELS_H
#define BENCH_LEVELS_H

#include "bench/moves/bench_options.h"
#include "bench/moves/memory.h"

enum { LEVELS_KINDS = 4, LEVELS_LOOP = 3 };

struct levels {
    uint32_t kib[OPTIONS_SIZES];
    double mean[OPTIONS_SIZES]
               [LEVELS_KINDS];      /* all levels, AVX2, C only, element loop; 0: not measured */
    const char *name[LEVELS_KINDS]; /* names of the levels of this machine */
    int count;                      /* number of sizes */
    int wrong;                      /* number of cells with wrong bytes */
};

void levels_measure(struct levels *l, const struct options *o, const struct case_list *cases,
                    struct memory *memory);
void levels_print(const struct levels *l);

#endif
