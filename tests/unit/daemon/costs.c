/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/daemon/costs.h"

#include <stdint.h>
#include <time.h>

enum { ROUNDS = 7 };

/* Returns the processor time of this thread, which other programs do not lengthen. */
static uint64_t thread_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

double cost_of(cost_round *round, void *context)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t begin = thread_ns();
        uint64_t took;

        round(context);
        took = thread_ns() - begin;
        if (took < best)
            best = took;
    }
    return (double)(best ? best : 1);
}
