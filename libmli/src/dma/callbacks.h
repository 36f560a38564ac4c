/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the running completion callbacks of a claim, so that threads can wait until they have
 * returned.
 */
#ifndef MLI_DMA_CALLBACKS_H
#define MLI_DMA_CALLBACKS_H

#include <stdatomic.h>
#include <stdint.h>

/* Zero-initialised: no callback runs. callbacks.c describes the bits. */
struct callbacks {
    _Atomic uint32_t word;
};

/** Counts a callback that is about to run. Call it before its transfer becomes done. */
void callbacks_begin(struct callbacks *callbacks);

/**
 * Counts a callback that has returned, and wakes the threads in callbacks_wait() after the last
 * callback.
 */
void callbacks_end(struct callbacks *callbacks);

/**
 * Sleeps until all callbacks that were running at the time of the call have returned. Returns at
 * the first moment without a running callback, so callbacks that begin later do not prolong the
 * wait.
 */
void callbacks_wait(struct callbacks *callbacks);

#endif /* MLI_DMA_CALLBACKS_H */
