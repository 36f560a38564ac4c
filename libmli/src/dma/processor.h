/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves work items on the processor, for engines without hardware: inline and threads. */
#ifndef MLI_DMA_PROCESSOR_H
#define MLI_DMA_PROCESSOR_H

#include "mli_engine.h"

/* A bit of work->hints: the thread that calls done has moved the work. */
#define PROCESSOR_MOVED (UINT32_C(1) << 31)

/**
 * Moves a work item on the calling thread and calls its done. A done may submit the next work item,
 * and that work's done another: inside a done, work items wait in a queue of the thread, so a chain
 * of work items does not grow the stack. May be called by an interrupt of the thread at any time.
 */
void processor_run(struct mli_work *work);

/* The work items that waited before processor_suspend(). Private. */
struct processor_queue {
    bool draining;
    struct mli_work *latest;
};

/**
 * Makes the work items that a completion callback submits move at once, up to processor_resume(),
 * although this thread is moving others. An interrupt would otherwise leave them to the interrupted
 * code, which might then never get on.
 */
void processor_suspend(struct processor_queue *before);
void processor_resume(const struct processor_queue *before);

#endif /* MLI_DMA_PROCESSOR_H */
