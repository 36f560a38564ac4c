/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors for all clients that the configuration allows. */
#pragma once

#include <uv.h>

#include "daemon/config/config.h"

/** Raises the limit of the process so that clients cannot use up all descriptors. Logs a warning if
 *  the hard limit is too low. Returns the number of descriptors that clients and mlid can open. */
unsigned descriptors_allow(const struct config *config);

/**
 * Makes libuv allocate its table for `count` descriptors now: it calls abort() if it has no memory
 * to enlarge the table later. Returns 0 or -errno.
 */
int descriptors_reserve(uv_loop_t *loop, unsigned count);
