/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/json_schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/proto_unit.h"

enum { SCHEMA_BYTES_MAX = 64 * 1024, SCHEMA_VALUES_MAX = 16 * 1024 };

int json_schema_load(const char *path, struct json *schema, struct fault *fault)
{
    static const struct json_limits limits = {
        .bytes = SCHEMA_BYTES_MAX, .depth = JSON_DEPTH_MAX, .values = SCHEMA_VALUES_MAX};
    static char text[SCHEMA_BYTES_MAX + 1];

    FILE *file = fopen(path, "r");
    size_t length;

    if (!file)
        return fault_set(fault, FAULT_IO_ERROR, NULL, "%s: %s", path, strerror(errno));
    length = fread(text, 1, sizeof text, file);
    fclose(file);
    return json_parse(text, length, &limits, schema, fault);
}

void json_schema_assert_bound(const struct json *property, const char *keyword, int64_t constant)
{
    struct json bound = json_member(property, keyword);
    int64_t number = 0;

    if (json_int(&bound, INT64_MIN, INT64_MAX, &number) < 0 || number != constant)
        fail_msg("%s.%s: %lld in the schema, %lld in the program",
                 property->key ? property->key : "root", keyword, (long long)number,
                 (long long)constant);
}
