/* SPDX-License-Identifier: BSD-3-Clause */
/* "access": the users who are served, of those who can open the socket. */
#ifndef DAEMON_ACCESS_H
#define DAEMON_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/json/json.h"

enum { ACCESS_UIDS_MAX = 256 };

struct access {
    bool restricted; /* true: "uids" is given */
    uint32_t count;
    uint32_t uids[ACCESS_UIDS_MAX];
};

/** Replaces *access. Returns 0, or -1 with the fault of `object` filled. */
int access_read(const struct json *object, struct access *access);
/** Returns whether a user is served. Root and the user that the service runs as always are. */
bool access_allows(const struct access *access, uint32_t uid);

#endif /* DAEMON_ACCESS_H */
