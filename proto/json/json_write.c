/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/json.h"
#include "proto/json/json_tree.h"

/* jsonw_key() escapes the key, which comes from the text and may hold any character. */
static void write_member(struct jsonw *w, const struct json *member)
{
    jsonw_key(w, member->key);
    json_write(w, NULL, member);
}

/* Recurses for each level of nesting, which prescan() limits. */
void json_write(struct jsonw *w, const char *key, const struct json *value)
{
    struct json item = {0};

    switch (value->node->kind) {
    case JSON_FALSE:
    case JSON_TRUE:
        jsonw_bool(w, key, value->node->kind == JSON_TRUE);
        break;
    case JSON_NULL:
        jsonw_null(w, key);
        break;
    case JSON_NUMBER:
        jsonw_int(w, key, value->node->number);
        break;
    case JSON_STRING:
        jsonw_string(w, key, value->node->string);
        break;
    case JSON_ARRAY:
        jsonw_array_begin(w, key);
        while (json_next(value, &item))
            json_write(w, NULL, &item);
        jsonw_array_end(w);
        break;
    default:
        jsonw_object_begin(w, key);
        while (json_next(value, &item))
            write_member(w, &item);
        jsonw_object_end(w);
    }
}
