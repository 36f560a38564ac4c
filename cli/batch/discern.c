/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/discern.h"

#include "proto/json/json.h"

static bool has_member_of_job(const struct json *value)
{
    static const char *const keys[] = {"op", "src", "dst", "jobs", "defaults"};
    for (size_t i = 0; json_is_object(value) && i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct json member = json_member(value, keys[i]);
        if (json_present(&member))
            return true;
    }
    return false;
}

bool discern_job_file(const char *text, size_t length)
{
    struct fault fault;
    struct json root, item = {0};
    if (json_parse(text, length, &prescan_job_file_limits, &root, &fault))
        return true;
    bool found = has_member_of_job(&root);
    while (!found && json_is_array(&root) && json_next(&root, &item))
        found = has_member_of_job(&item);
    json_free(&root);
    return found;
}
