/* SPDX-License-Identifier: BSD-3-Clause */
/* "quotas": what all connections of one user may have together. */
#ifndef DAEMON_QUOTA_H
#define DAEMON_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/bounds.h"
#include "proto/json/json.h"

struct quota {
    uint32_t clients;      /* QUOTA_SHARE: a share of limits.clients */
    uint32_t jobs;         /* QUOTA_SHARE: a share of limits.jobs */
    uint64_t buffer_bytes; /* UINT64_MAX: no limit */
    uint64_t reply_bytes;  /* unread and expected replies */
    uint32_t weight;       /* of the user's turns on the channels */
    int32_t max_priority;  /* among the jobs of all users; QUOTA_BY_USER */
};

#define QUOTA_SHARE UINT32_MAX
/* max_priority: 1 for root and the user that the service runs as, 0 for others. */
#define QUOTA_BY_USER INT32_MIN

/* An object has no more members than this. */
enum { QUOTA_USERS_MAX = PROTO_KEYS_MAX };

struct quotas {
    struct quota standard;
    uint32_t count;
    uint32_t uids[QUOTA_USERS_MAX];
    struct quota users[QUOTA_USERS_MAX];
};

void quotas_default(struct quotas *quotas);
/**
 * {"default": {...}, "1000": {...}}: what a user's quota does not name is the default's, and what
 * that does not name either has its default. Replaces what there was. Returns 0 or -1 (fault).
 */
int quotas_read(const struct json *object, struct quotas *quotas);
struct number;
/** The numbers of one user's object. */
const struct number *quota_numbers(void);
const struct quota *quotas_of(const struct quotas *quotas, uint32_t uid);

/**
 * Tells whether a user who has `own` of the `total` in use may take one more of `limit`. With the
 * quota QUOTA_SHARE the user may take the first one while any is free, and further ones while the
 * user then has at most three times what is left free. One user alone gets three quarters of the
 * limit, n users who take turns 3 / (3n + 1) each. A further one is never the last of the limit:
 * that one is left for the first of another user.
 */
bool quota_allows(uint32_t quota, uint32_t own, uint32_t total, uint32_t limit);

/** Digits of a user's or group's number, 0 to 4294967294, without leading zeros. 0 or -1. */
int uid_parse(const char *text, uint32_t *uid);

#endif /* DAEMON_QUOTA_H */
