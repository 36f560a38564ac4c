/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves work items on the processor, for engines without hardware: inline and threads. */
#ifndef MLI_DMA_PROCESSOR_H
#define MLI_DMA_PROCESSOR_H

#include "mli_engine.h"

/**
 * Moves a work item on the calling thread and calls its done. A done may submit the next work item,
 * and that work's done another: inside a done, work items wait in a queue of the thread, so a chain
 * of work items does not grow the stack. May be called by an interrupt of the thread at any time.
 */
void processor_run(struct mli_work *work);

#endif /* MLI_DMA_PROCESSOR_H */
