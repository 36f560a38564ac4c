/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/link/refused.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mli_client.h"

enum { ID_TEXT_MAX = 16 };

static bool has_directory(const char *path)
{
    struct stat status;
    char directory[MLI_CLIENT_PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!slash)
        return true;
    snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path) + 1, path);
    return stat(directory, &status) == 0 && S_ISDIR(status.st_mode);
}

/* mlid has the same default, which needs not be repeated to it. */
static int explain_absent(const char *asked, const char *where, struct fault *fault)
{
    const char *from_environment = getenv("MLID_SOCKET");
    bool by_default = !asked && !(from_environment && *from_environment);
    if (by_default && strcmp(where, "/run/mlid.sock") == 0 && geteuid() != 0)
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "no daemon listens at %s, the default where XDG_RUNTIME_DIR %s; start one "
                         "with `mlid --socket PATH &` and give --socket PATH or set MLID_SOCKET",
                         where, getenv("XDG_RUNTIME_DIR") ? "is no usable path" : "is not set");
    if (!has_directory(where))
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "no daemon listens at %s, and its directory does not exist%s", where,
                         by_default ? "; set XDG_RUNTIME_DIR to a directory that exists, or give "
                                      "--socket PATH"
                                    : "");
    return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                     "no daemon listens at %s; start one with `mlid%s%s &`", where,
                     by_default ? "" : " --socket ", by_default ? "" : where);
}

/* A door that is shut: whose it is. */
static int explain_closed(const char *where, struct fault *fault)
{
    struct stat there;
    char user[ID_TEXT_MAX], group[ID_TEXT_MAX];
    if (stat(where, &there))
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "no permission to connect to %s: its directory is closed to this user",
                         where);
    const struct passwd *owner = getpwuid(there.st_uid);
    const struct group *members = getgrgid(there.st_gid);
    snprintf(user, sizeof(user), "%u", (unsigned)there.st_uid);
    snprintf(group, sizeof(group), "%u", (unsigned)there.st_gid);
    if (there.st_mode & S_IWGRP)
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "no permission to connect to %s: it is for the user %s and for members of "
                         "the group %s",
                         where, owner ? owner->pw_name : user, members ? members->gr_name : group);
    return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                     "no permission to connect to %s: it is for the user %s alone; \"socket_mode\" "
                     "and \"socket_group\" of mlid.json let others in",
                     where, owner ? owner->pw_name : user);
}

int refused_explain(const char *path, int code, struct fault *fault)
{
    char where[MLI_CLIENT_PATH_MAX];
    mli_client_error error;
    struct stat there;
    if (mli_client_socket_path(path, where, &error))
        return -1;
    if (code == MLI_CLIENT_NO_SERVICE && stat(where, &there) == 0 && !S_ISSOCK(there.st_mode))
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "%s is no socket; the one that mlid listens on is needed", where);
    if (code == MLI_CLIENT_NO_SERVICE)
        return explain_absent(path, where, fault);
    if (code == MLI_CLIENT_LOST && access(where, W_OK) && errno == EACCES)
        return explain_closed(where, fault);
    return -1;
}
