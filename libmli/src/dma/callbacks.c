/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/dma/callbacks.h"

#include <stdbool.h>

#include "libmli/src/dma/park.h"

/*
 * The word: bit 0 is set while a thread sleeps in callbacks_wait(), bits 1 to 16 count the running
 * callbacks, bits 17 to 31 count how often that number has dropped to 0. The last field shows a
 * sleeping thread that no callback ran for a moment, even if one runs again when the thread wakes:
 * otherwise a callback that restarts its transfer would keep the thread asleep for the whole chain.
 */
enum { AWAITED = 1u, RUNNING_ONE = 1u << 1, RUNNING_MASK = 0xffffu << 1 };

#define QUIET_ONE (UINT32_C(1) << 17)

static bool any_runs(uint32_t word)
{
    return word & RUNNING_MASK;
}

void callbacks_begin(struct callbacks *callbacks)
{
    atomic_fetch_add(&callbacks->word, RUNNING_ONE);
}

void callbacks_end(struct callbacks *callbacks)
{
    uint32_t before = atomic_load_explicit(&callbacks->word, memory_order_relaxed), after;

    do {
        after = before - RUNNING_ONE;
        if (!any_runs(after))
            after = (after + QUIET_ONE) & ~(uint32_t)AWAITED;
    } while (!atomic_compare_exchange_weak(&callbacks->word, &before, after));
    if (!any_runs(after) && before & AWAITED)
        unpark(&callbacks->word);
}

void callbacks_wait(struct callbacks *callbacks)
{
    uint32_t now = atomic_load(&callbacks->word);
    const uint32_t quiet = now / QUIET_ONE;

    while (any_runs(now) && now / QUIET_ONE == quiet) {
        if (!(now & AWAITED) &&
            !atomic_compare_exchange_weak(&callbacks->word, &now, now | AWAITED))
            continue;
        park(&callbacks->word, now | AWAITED);
        now = atomic_load(&callbacks->word);
    }
}
