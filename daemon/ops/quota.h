/* SPDX-License-Identifier: BSD-3-Clause */
/* "quotas": what all connections of one user may have together. */
#ifndef DAEMON_QUOTA_H
#define DAEMON_QUOTA_H

#include <stdint.h>

#include "bounds.h"
#include "json.h"

struct quota {
    uint32_t clients;      /* UINT32_MAX: no limit */
    uint32_t jobs;         /* UINT32_MAX: no limit */
    uint64_t buffer_bytes; /* UINT64_MAX: no limit */
};

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
 * that does not name has no limit. Replaces what there was. Returns 0 or -1 (fault).
 */
int quotas_read(const struct json *object, struct quotas *quotas);
struct number;
/** The numbers of one user's object. */
const struct number *quota_numbers(void);
const struct quota *quotas_of(const struct quotas *quotas, uint32_t uid);

/** Digits of a user's or group's number, 0 to 4294967294, without leading zeros. 0 or -1. */
int uid_parse(const char *text, uint32_t *uid);

#endif /* DAEMON_QUOTA_H */
