/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a JSON Schema of the tree and compares its keywords with the program's constants. */
#ifndef JSON_SCHEMA_H
#define JSON_SCHEMA_H

#include <stdint.h>

#include "proto/json/json.h"

/** Parses the schema at `path`; json_free(schema) ends it. Returns 0, or -1 with *fault filled. */
int json_schema_load(const char *path, struct json *schema, struct fault *fault);

/** Fails the test unless the number `keyword` of `property` equals `constant`. */
void json_schema_assert_bound(const struct json *property, const char *keyword, int64_t constant);

#endif /* JSON_SCHEMA_H */
