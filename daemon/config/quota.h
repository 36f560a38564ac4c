/* SPDX-License-Identifier: BSD-3-Clause */
/* "quotas": limits for all connections of one user together. */
#ifndef DAEMON_QUOTA_H
#define DAEMON_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/json/json.h"

struct quota {
    uint32_t clients;        /* QUOTA_SHARE: a share of limits.clients */
    uint32_t jobs;           /* QUOTA_SHARE: a share of limits.jobs */
    uint64_t buffer_bytes;   /* UINT64_MAX: no limit */
    uint32_t memory_percent; /* most of each memory of the board, in percent */
    uint64_t reply_bytes;    /* bytes of unread and expected replies */
    uint32_t weight;         /* quanta of bytes in each of the user's turns */
    int32_t max_priority;    /* maximum priority among the jobs of all users; or QUOTA_BY_USER */
};

#define QUOTA_SHARE UINT32_MAX
/* max_priority: 1 for root and the user that the service runs as, 0 for others. */
#define QUOTA_BY_USER INT32_MIN

/* The most members that an object may have. */
enum { QUOTA_USERS_MAX = JSON_KEYS_MAX };

struct quotas {
    struct quota standard;
    uint32_t count;
    uint32_t uids[QUOTA_USERS_MAX];
    struct quota users[QUOTA_USERS_MAX];
};

/** Sets the default quota, and no users. */
void quotas_default(struct quotas *quotas);
/**
 * Reads {"default": {...}, "1000": {...}}. If the object of a user lacks a number, the number of
 * "default" applies; if "default" lacks it too, the built-in default applies. Replaces *quotas.
 * Returns 0, or -1 with the fault of `object` filled.
 */
int quotas_read(const struct json *object, struct quotas *quotas);
struct number;
/** Returns the numbers of one user's object. */
const struct number *quota_numbers(void);
/** Returns the quota of a user, which points into *quotas. */
const struct quota *quotas_of(const struct quotas *quotas, uint32_t uid);

/**
 * Returns whether a user with this quota, who has `own` of the `total` in use, may take one more of
 * `limit`. The quota QUOTA_SHARE allows what uid_share_allows() does.
 */
bool quota_allows(uint32_t quota, uint32_t own, uint32_t total, uint32_t limit);

#endif /* DAEMON_QUOTA_H */
