/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/dma/mov_calls.h"

#include <stdbool.h>

#include "libmli/src/dma/park.h"

/*
 * The word: bit 0 is set while a thread sleeps in calls_wait(), bits 1 to 16 count the running
 * callbacks, bits 17 to 31 count how often that number has dropped to 0. The last field lets a
 * sleeper see a quiet moment that is already over when the scheduler wakes it: a callback that
 * restarts its transfer would otherwise keep it asleep for as long as the chain runs.
 */
enum { AWAITED = 1u, RUNNING_ONE = 1u << 1, RUNNING_MASK = 0xffffu << 1 };

#define QUIET_ONE (UINT32_C(1) << 17)

static bool any_runs(uint32_t word)
{
    return word & RUNNING_MASK;
}

void calls_begin(struct calls *calls)
{
    atomic_fetch_add(&calls->word, RUNNING_ONE);
}

void calls_end(struct calls *calls)
{
    uint32_t before = atomic_load_explicit(&calls->word, memory_order_relaxed), after;

    do {
        after = before - RUNNING_ONE;
        if (!any_runs(after))
            after = (after + QUIET_ONE) & ~(uint32_t)AWAITED;
    } while (!atomic_compare_exchange_weak(&calls->word, &before, after));
    if (!any_runs(after) && before & AWAITED)
        unpark(&calls->word);
}

void calls_wait(struct calls *calls)
{
    uint32_t now = atomic_load(&calls->word);
    const uint32_t quiet = now / QUIET_ONE;

    while (any_runs(now) && now / QUIET_ONE == quiet) {
        if (!(now & AWAITED) && !atomic_compare_exchange_weak(&calls->word, &now, now | AWAITED))
            continue;
        park(&calls->word, now | AWAITED);
        now = atomic_load(&calls->word);
    }
}
