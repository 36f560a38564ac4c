/* SPDX-License-Identifier: BSD-3-Clause */
/* The completion callbacks of a claim that are running now, for threads that wait for their end. */
#ifndef MLI_DMA_CALLS_H
#define MLI_DMA_CALLS_H

#include <stdatomic.h>
#include <stdint.h>

/* Zero-initialised: no callback runs. calls.c describes the bits. */
struct calls {
    _Atomic uint32_t word;
};

/** Counts a callback that is about to run. Call it before its transfer becomes done. */
void calls_begin(struct calls *calls);

/** Counts a callback that has returned, and wakes the threads in calls_wait() after the last one.
 */
void calls_end(struct calls *calls);

/**
 * Sleeps until all callbacks that were running at the time of the call have returned. Returns at
 * the first moment at which none runs, so callbacks that begin later do not prolong the wait.
 */
void calls_wait(struct calls *calls);

#endif /* MLI_DMA_CALLS_H */
