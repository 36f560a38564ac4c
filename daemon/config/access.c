/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/config/access.h"

#include <string.h>

#include "daemon/base/uid.h"

int access_read(const struct json *object, struct access *access)
{
    static const char *const keys[] = {"uids", NULL};
    struct json uids, item = {0};
    size_t count;

    if (json_object(object, keys) < 0)
        return -1;
    memset(access, 0, sizeof *access);
    uids = json_member(object, "uids");
    if (!json_present(&uids))
        return 0;
    if (json_array(&uids, &count) < 0)
        return -1;
    if (count > ACCESS_UIDS_MAX)
        return json_complain(&uids, "at most %d are allowed", ACCESS_UIDS_MAX);
    access->restricted = true;
    while (json_next(&uids, &item)) {
        int64_t uid;

        if (json_int(&item, 0, UINT32_MAX - 1, &uid) < 0)
            return -1;
        access->uids[access->count++] = (uint32_t)uid;
    }
    return 0;
}

bool access_allows(const struct access *access, uint32_t uid)
{
    if (!access->restricted || uid_is_master(uid))
        return true;
    for (uint32_t i = 0; i < access->count; i++)
        if (access->uids[i] == uid)
            return true;
    return false;
}
