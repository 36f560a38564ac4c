/* SPDX-License-Identifier: BSD-3-Clause */
/* Users and groups of the system: whom the sockets belong to, and whom the process becomes. */
#ifndef DAEMON_IDENTITY_H
#define DAEMON_IDENTITY_H

#include <sys/types.h>

#include "daemon/config/config.h"

enum { IDENTITY_NAME_MAX = 64 };

struct identity {
    char name[IDENTITY_NAME_MAX];
    uid_t uid;
    gid_t gid; /* his group */
};

/** A user by name or number, who must have an entry. Returns 0, -ENOENT or another -errno. */
int identity_of_user(const char *text, struct identity *identity);
/** A group by name or number. A number needs no entry. */
int identity_of_group(const char *text, gid_t *gid);

/** Owner and group of socket files; -1 where the process's own will do. Returns 0 or -errno. */
int identity_of_sockets(const struct config *config, uid_t *uid, gid_t *gid);

/**
 * Whether there are such a user and group, and this process can become him. Returns 0 or -1.
 */
int identity_check(const struct config *config, struct fault *fault);

/**
 * Becomes the user, with his groups and nothing else, in all threads, and makes sure that there is
 * no way back. Returns 0 or -errno: then go no further.
 */
int identity_become(const struct identity *identity);

#endif /* DAEMON_IDENTITY_H */
