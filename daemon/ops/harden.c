/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/ops/harden.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

int harden(bool allow_core)
{
    const struct rlimit none = {0, 0};

    umask(077);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    if (!allow_core && setrlimit(RLIMIT_CORE, &none) < 0)
        return -errno;
    /* A change of user has cleared it. A core that goes into a pipe heeds this, and no limit. */
    return prctl(PR_SET_DUMPABLE, allow_core ? 1 : 0, 0, 0, 0) < 0 ? -errno : 0;
}
