/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's DMA channels. A process has one pool of them, and one service at a time has it. */
#ifndef DAEMON_POOL_H
#define DAEMON_POOL_H

#include "daemon/config/config.h"

/**
 * Sets the engine and takes the channels that are configured. Returns 0; or with *fault filled and
 * nothing taken -EBUSY (another service of this process has them, or somebody else holds some),
 * -EINVAL (the engine or the channels are not to be had like this: a wrong configuration), or
 * -ENOMEM (the system has no resources for them).
 */
int dma_pool_take(const struct config *config, struct fault *fault);

/** Gives the channels back, when none is held any more. */
void dma_pool_give_back(void);

#endif /* DAEMON_POOL_H */
