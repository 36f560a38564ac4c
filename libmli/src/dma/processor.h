/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves works on the processor, for engines without hardware: inline and threads. */
#ifndef MLI_DMA_PROCESSOR_H
#define MLI_DMA_PROCESSOR_H

#include "mli_engine.h"

/**
 * Moves a work on the calling thread and calls its done. A done may submit the next work, and that
 * work's done another: inside a done, works wait in a queue of the thread, so a chain of works does
 * not grow the stack. A thread has at most one work for each channel.
 */
void processor_run(struct mli_work *work);

#endif /* MLI_DMA_PROCESSOR_H */
