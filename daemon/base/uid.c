/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/uid.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHARE_OF_FREE = 3 };

int uid_parse(const char *text, uint32_t *uid)
{
    const size_t length = strlen(text);
    unsigned long long number;

    if (length == 0 || length > 10 || text[strspn(text, "0123456789")] != '\0')
        return -1;
    if (text[0] == '0' && length > 1)
        return -1;
    number = strtoull(text, NULL, 10);
    if (number >= UINT32_MAX) /* (uid_t)-1 is not a user */
        return -1;
    *uid = (uint32_t)number;
    return 0;
}

bool uid_is_master(uid_t uid)
{
    return uid == 0 || uid == geteuid();
}

bool uid_share_allows(uint32_t own, uint32_t total, uint32_t limit)
{
    if (total >= limit)
        return false;
    return own == 0 || own < SHARE_OF_FREE * (uint64_t)(limit - total - 1);
}
