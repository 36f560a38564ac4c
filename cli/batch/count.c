/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/count.h"

int count_read(const struct json *object, const char *key, uint64_t max, uint64_t *out)
{
    struct json value = json_member(object, key);
    int64_t number;
    if (json_int(&value, 0, (int64_t)max, &number))
        return -1;
    *out = (uint64_t)number;
    return 0;
}
