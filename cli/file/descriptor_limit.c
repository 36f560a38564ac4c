/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/file/descriptor_limit.h"

#include <sys/resource.h>

void descriptor_limit_raise(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}
