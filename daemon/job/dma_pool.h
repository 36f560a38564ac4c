/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes libmli's pool of DMA channels. A process has one pool; one service at a time has it. */
#ifndef DAEMON_DMA_POOL_H
#define DAEMON_DMA_POOL_H

#include "daemon/config/config.h"

/**
 * Sets the engine and takes the configured channels. Returns 0; or, with *fault filled and nothing
 * taken, -EBUSY (another service or other code in this process holds channels), -EINVAL (the
 * configured engine or channels do not exist), or -ENOMEM (the system has too few resources).
 */
int dma_pool_take(const struct config *config, struct fault *fault);

/** Gives the channels back. No transfer may hold a channel. */
void dma_pool_give_back(void);

#endif /* DAEMON_DMA_POOL_H */
