/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/config/identity.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/uid.h"

enum { ENTRY_MAX = 64 * 1024, GROUPS_MAX = 256 };

/* getpwnam_r() and the related functions report a missing entry by different errors. */
static int result_of(int error, const void *found)
{
    if (found)
        return 0;
    return error == 0 || error == ESRCH || error == EBADF || error == EPERM ? -ENOENT : -error;
}

int identity_of_user(const char *text, struct identity *identity)
{
    char memory[ENTRY_MAX];
    struct passwd entry, *found = NULL;
    uint32_t uid;
    const bool number = uid_parse(text, &uid) == 0;
    int error;

    do
        error = number ? getpwuid_r(uid, &entry, memory, sizeof memory, &found)
                       : getpwnam_r(text, &entry, memory, sizeof memory, &found);
    while (error == EINTR);
    error = result_of(error, found);
    if (error < 0)
        return error;
    if (strlen(found->pw_name) >= sizeof identity->name)
        return -ENAMETOOLONG;
    *identity = (struct identity){.uid = found->pw_uid, .gid = found->pw_gid};
    strcpy(identity->name, found->pw_name);
    return 0;
}

int identity_of_group(const char *text, gid_t *gid)
{
    char memory[ENTRY_MAX];
    struct group entry, *found = NULL;
    uint32_t number;
    int error;

    if (uid_parse(text, &number) == 0) {
        *gid = number;
        return 0;
    }
    do
        error = getgrnam_r(text, &entry, memory, sizeof memory, &found);
    while (error == EINTR);
    error = result_of(error, found);
    if (error == 0)
        *gid = found->gr_gid;
    return error;
}

int identity_of_sockets(const struct config *config, uid_t *uid, gid_t *gid)
{
    struct identity identity;
    int error = 0;

    *uid = (uid_t)-1;
    *gid = (gid_t)-1;
    if (config->user[0] != '\0') {
        error = identity_of_user(config->user, &identity);
        if (error < 0)
            return error;
        *uid = identity.uid;
        *gid = identity.gid;
    }
    if (config->socket_group[0] != '\0')
        error = identity_of_group(config->socket_group, gid);
    return error;
}

int identity_check(const struct config *config, struct fault *fault)
{
    struct identity identity;
    gid_t gid;
    int error;

    if (config->socket_group[0] != '\0') {
        error = identity_of_group(config->socket_group, &gid);
        if (error < 0)
            return fault_set(fault, FAULT_INVALID_PARAMS, "/socket_group",
                             "socket_group: \"%s\": %s", config->socket_group,
                             error == -ENOENT ? "there is no such group" : strerror(-error));
    }
    if (config->user[0] == '\0')
        return 0;
    error = identity_of_user(config->user, &identity);
    if (error < 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/user", "user: \"%s\": %s", config->user,
                         error == -ENOENT ? "there is no such user" : strerror(-error));
    if (geteuid() != 0 && geteuid() != identity.uid)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/user",
                         "user: \"%s\": only root can become another user", config->user);
    return 0;
}

/* Changes the groups before the user, because only root can change groups. */
static int change(const struct identity *identity)
{
    gid_t groups[GROUPS_MAX];
    int count = GROUPS_MAX;

    if (getgrouplist(identity->name, identity->gid, groups, &count) < 0)
        return -E2BIG;
    if (setgroups((size_t)count, groups) < 0 || setgid(identity->gid) < 0 ||
        setuid(identity->uid) < 0)
        return -errno;
    return 0;
}

int identity_become(const struct identity *identity)
{
    uid_t real, effective, saved;
    gid_t real_gid, effective_gid, saved_gid;
    int error;

    if (geteuid() != 0)
        return geteuid() == identity->uid ? 0 : -EPERM;
    error = change(identity);
    if (error < 0)
        return error;
    if (getresuid(&real, &effective, &saved) < 0 ||
        getresgid(&real_gid, &effective_gid, &saved_gid) < 0)
        return -errno;
    if (real != identity->uid || effective != identity->uid || saved != identity->uid ||
        real_gid != identity->gid || effective_gid != identity->gid || saved_gid != identity->gid)
        return -EPERM;
    if (identity->uid != 0 && (setuid(0) == 0 || setgid(0) == 0))
        return -EPERM;
    return 0;
}
