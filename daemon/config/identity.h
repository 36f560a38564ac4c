/* SPDX-License-Identifier: BSD-3-Clause */
/* Users and groups by name: the owner of the sockets, and the user that the process becomes. */
#pragma once

#include <sys/types.h>

#include "daemon/config/config.h"

enum { IDENTITY_NAME_MAX = 64 };

struct identity {
    char name[IDENTITY_NAME_MAX];
    uid_t uid;
    gid_t gid; /* the user's primary group */
};

/** Finds a user by name or number in the user database. Returns 0, -ENOENT or another -errno. */
int identity_of_user(const char *text, struct identity *identity);
/** Finds a group by name. Accepts any number. Returns 0, -ENOENT or another -errno. */
int identity_of_group(const char *text, gid_t *gid);

/** Finds the owner and the group of socket files; -1 stands for the user or group of the process.
 * Returns 0 or -errno. */
int identity_of_sockets(const struct config *config, uid_t *uid, gid_t *gid);

/**
 * Checks that the configured user and group exist, and that this process can become the user.
 * Returns 0, or -1 with *fault filled.
 */
int identity_check(const struct config *config, struct fault *fault);

/**
 * Becomes the user, with only the user's groups, in all threads, and checks that the process cannot
 * change back. Returns 0 or -errno: then end the process.
 */
int identity_become(const struct identity *identity);
