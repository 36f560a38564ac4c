/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The resources that the service takes: libmli's pool of DMA channels (a process has one pool; one
 * service at a time has it), and the board: the memories of the configured target profile
 * (daemon/memory/board.h) and libmli's active profile.
 */
#pragma once

#include "daemon/config/config.h"
#include "daemon/memory/board.h"

/**
 * Sets the engine and takes the configured channels. Returns 0; or, with *fault filled and nothing
 * taken, -EBUSY (another service or other code in this process holds channels), -EINVAL (the
 * configured engine or channels do not exist), or -ENOMEM (the system has too few resources).
 */
int dma_pool_take(const struct config *config, struct fault *fault);

/** Gives the channels back. No transfer may hold a channel. */
void dma_pool_give_back(void);

/** Returns the number of DMA channels of the configured profile; 0 if no profile can be loaded. */
uint32_t target_board_channels(const struct config *config);

/** Checks that the configured profile can be loaded. Returns 0, or -1 with *fault filled. */
int target_board_check(const struct config *config, struct fault *fault);

/**
 * Creates the board of the configured profile, and gives the profile's strictness and guard bits to
 * libmli. *out is null if no profile is configured. Call it while no other thread is inside libmli.
 * Returns 0 or -errno (-EINVAL: target_board_check() refuses the profile).
 */
int target_board_create(const struct config *config, struct board **out);

/** Frees the board and restores libmli's default profile. Accepts NULL. */
void target_board_destroy(struct board *board);
