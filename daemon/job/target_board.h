/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The board of the service: the memories of the configured target profile (daemon/memory/board.h),
 * and libmli's active profile.
 */
#ifndef DAEMON_TARGET_BOARD_H
#define DAEMON_TARGET_BOARD_H

#include "daemon/config/config.h"
#include "daemon/memory/board.h"

/** Returns the DMA channels of the configured profile; 0 without one that can be loaded. */
uint32_t target_board_channels(const struct config *config);

/** Checks that the configured profile can be loaded. Returns 0, or -1 with *fault filled. */
int target_board_check(const struct config *config, struct fault *fault);

/**
 * Creates the board of the configured profile and makes the profile libmli's active one: strict
 * checks and guard bits. *out is null if no profile is configured. Call it while no other thread is
 * inside libmli. Returns 0 or -errno (-EINVAL: target_board_check() refuses the profile).
 */
int target_board_create(const struct config *config, struct board **out);

/** Frees the board and restores libmli's default profile. Accepts NULL. */
void target_board_destroy(struct board *board);

#endif /* DAEMON_TARGET_BOARD_H */
