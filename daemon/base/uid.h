/* SPDX-License-Identifier: BSD-3-Clause */
/* User IDs (uid): reads them, and divides the limits of the service among users. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * Reads the number of a user or group: digits without leading zeros, 0 to 4294967294. Returns 0,
 * or -1 if the text is anything else.
 */
int uid_parse(const char *text, uint32_t *uid);

/** Returns whether this is root or the user that the service runs as. */
bool uid_is_master(uid_t uid);

/**
 * Returns whether a user who has `own` of the `total` objects in use may take one more of `limit`
 * objects. The user may take the first object while any is free, and further objects while the user
 * then has at most three times as many as are left free. One user alone gets three quarters of the
 * limit, n users who take turns get 3 / (3n + 1) each. The last free object goes only to a user who
 * has none.
 */
bool uid_share_allows(uint32_t own, uint32_t total, uint32_t limit);
