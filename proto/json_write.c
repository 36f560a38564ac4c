/* SPDX-License-Identifier: BSD-3-Clause */
#include <cJSON.h>

#include "json.h"

/* Not deeper than prescan() lets a text be. */
/* Keys were somebody else's words. */
static void write_member(struct jsonw *w, const struct json *member)
{
    jsonw_key(w, member->key);
    json_write(w, NULL, member);
}

void json_write(struct jsonw *w, const char *key, const struct json *value)
{
    struct json item = {0};

    switch (value->node->type & 0xff) {
    case cJSON_False:
    case cJSON_True:
        jsonw_bool(w, key, (value->node->type & 0xff) == cJSON_True);
        break;
    case cJSON_NULL:
        jsonw_null(w, key);
        break;
    case cJSON_Number:
        jsonw_int(w, key, (int64_t)value->node->valuedouble);
        break;
    case cJSON_String:
        jsonw_string(w, key, value->node->valuestring);
        break;
    case cJSON_Array:
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
