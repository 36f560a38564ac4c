/* SPDX-License-Identifier: BSD-3-Clause */
/* Works that the processor does itself, for engines without hardware. */
#ifndef MLI_DMA_PROCESSOR_H
#define MLI_DMA_PROCESSOR_H

#include "mli_engine.h"

/**
 * Does a work on the calling thread and calls its done. A done may submit the next work, whose done
 * may submit the next: inside of one, works wait in a queue of the thread, so that such a chain
 * takes no stack. A thread has no more than one work for each channel.
 */
void processor_run(struct mli_work *work);

#endif /* MLI_DMA_PROCESSOR_H */
