/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/number.h"

#include <assert.h>
#include <string.h>

static void store(void *structure, const struct number *number, int64_t value)
{
    char *field = (char *)structure + number->at;
    uint32_t narrow = (uint32_t)value;

    if (number->size == sizeof narrow)
        memcpy(field, &narrow, sizeof narrow);
    else
        memcpy(field, &value, sizeof value);
}

void numbers_default(void *structure, const struct number *numbers)
{
    for (const struct number *n = numbers; n->key; n++)
        store(structure, n, n->standard);
}

int numbers_read(void *structure, const struct number *numbers, const struct json *object)
{
    for (const struct number *n = numbers; n->key; n++) {
        struct json value = json_member(object, n->key);
        int64_t number;

        if (!json_present(&value))
            continue;
        if (json_int(&value, n->min, n->max, &number) < 0)
            return -1;
        store(structure, n, number);
    }
    return 0;
}

int numbers_read_object(void *structure, const struct number *numbers, const struct json *object)
{
    const char *keys[NUMBERS_MAX + 1];
    size_t count = 0;

    if (!json_present(object))
        return 0;
    for (const struct number *n = numbers; n->key; n++) {
        assert(count < NUMBERS_MAX);
        keys[count++] = n->key;
    }
    keys[count] = NULL;
    if (json_object(object, keys) < 0)
        return -1;
    return numbers_read(structure, numbers, object);
}
