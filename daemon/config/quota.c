/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/config/quota.h"

#include <string.h>

#include "daemon/base/uid.h"
#include "proto/json/number.h"

static const struct number numbers[] = {
    NUMBER(struct quota, clients, "clients", 1, 4096, QUOTA_SHARE),
    NUMBER(struct quota, jobs, "jobs", 1, 16384, QUOTA_SHARE),
    NUMBER(struct quota, buffer_bytes, "buffer_bytes", 0, (INT64_C(1) << 53) - 1, -1),
    NUMBER(struct quota, memory_percent, "memory_percent", 1, 100, 100),
    NUMBER(struct quota, reply_bytes, "reply_bytes", 1 << 20, (INT64_C(1) << 53) - 1, 16 << 20),
    NUMBER(struct quota, weight, "weight", 1, 100, 1),
    NUMBER(struct quota, max_priority, "max_priority", -1, 1, QUOTA_BY_USER),
    {0},
};

static const char standard_key[] = "default";

void quotas_default(struct quotas *quotas)
{
    memset(quotas, 0, sizeof *quotas);
    numbers_default(&quotas->standard, numbers);
}

static int read_user(const struct json *member, struct quotas *quotas)
{
    struct quota quota = quotas->standard;
    uint32_t uid;

    if (uid_parse(member->key, &uid) < 0)
        return json_complain(member, "\"default\" or the number of a user is required");
    for (uint32_t i = 0; i < quotas->count; i++)
        if (quotas->uids[i] == uid)
            return json_complain(member, "is given twice");
    if (quotas->count == QUOTA_USERS_MAX)
        return json_complain(member, "at most %d users are allowed", QUOTA_USERS_MAX);
    if (numbers_read_object(&quota, numbers, member) < 0)
        return -1;
    quotas->uids[quotas->count] = uid;
    quotas->users[quotas->count++] = quota;
    return 0;
}

int quotas_read(const struct json *object, struct quotas *quotas)
{
    struct json member = {0}, standard;
    bool seen = false;

    if (!json_is_object(object))
        return json_complain(object, "an object is required");
    quotas_default(quotas);
    standard = json_member(object, standard_key);
    if (numbers_read_object(&quotas->standard, numbers, &standard) < 0)
        return -1;
    while (json_next(object, &member)) {
        if (strcmp(member.key, standard_key) != 0) {
            if (read_user(&member, quotas) < 0)
                return -1;
        } else if (seen) {
            return json_complain(&member, "is given twice");
        } else {
            seen = true;
        }
    }
    return 0;
}

const struct quota *quotas_of(const struct quotas *quotas, uint32_t uid)
{
    for (uint32_t i = 0; i < quotas->count; i++)
        if (quotas->uids[i] == uid)
            return &quotas->users[i];
    return &quotas->standard;
}

const struct number *quota_numbers(void)
{
    return numbers;
}

bool quota_allows(uint32_t quota, uint32_t own, uint32_t total, uint32_t limit)
{
    if (total >= limit)
        return false;
    if (quota != QUOTA_SHARE)
        return own < quota;
    return uid_share_allows(own, total, limit);
}
