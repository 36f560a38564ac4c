/* SPDX-License-Identifier: BSD-3-Clause */
/* "access": whose connections are served, of those who can open the socket. */
#ifndef DAEMON_ACCESS_H
#define DAEMON_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/json/json.h"

enum { ACCESS_UIDS_MAX = 256 };

struct access {
    bool restricted; /* "uids" is there */
    uint32_t count;
    uint32_t uids[ACCESS_UIDS_MAX];
};

/** Replaces what there was. Returns 0 or -1 (fault). */
int access_read(const struct json *object, struct access *access);
/** Root and the user the service runs as are always served. */
bool access_allows(const struct access *access, uint32_t uid);

#endif /* DAEMON_ACCESS_H */
