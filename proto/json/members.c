/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int params_object(const struct json *params, const char *const *allowed)
{
    return json_present(params) ? json_object(params, allowed) : 0;
}

static int read_number(const struct json *object, const char *key, int64_t max, int64_t *number)
{
    struct json value = json_member(object, key);

    return json_int(&value, 0, max, number);
}

int member_u64(const struct json *object, const char *key, uint64_t *out)
{
    int64_t number;

    if (read_number(object, key, MEMBER_MAX, &number) < 0)
        return -1;
    *out = (uint64_t)number;
    return 0;
}

int member_u32(const struct json *object, const char *key, uint32_t *out)
{
    int64_t number;

    if (read_number(object, key, UINT32_MAX, &number) < 0)
        return -1;
    *out = (uint32_t)number;
    return 0;
}

int member_bool(const struct json *object, const char *key, bool *out)
{
    struct json value = json_member(object, key);

    return json_bool(&value, out);
}

int optional_bool(const struct json *object, const char *key, bool *out)
{
    struct json value = json_member(object, key);

    return json_present(&value) ? json_bool(&value, out) : 0;
}

int member_text(const struct json *object, const char *key, char *out, size_t size)
{
    struct json value = json_member(object, key);
    const char *text;

    if (json_text(&value, size - 1, &text) < 0)
        return -1;
    snprintf(out, size, "%s", text);
    return 0;
}

int array_within(const struct json *array, size_t max, size_t *count)
{
    if (json_array(array, count) < 0)
        return -1;
    return *count <= max
               ? 0
               : json_complain(array, "%zu entries given; at most %zu are allowed", *count, max);
}

int words_read(const struct json *array, const char *const *words, uint32_t *bits)
{
    struct json item = {0};
    size_t count, index;

    *bits = 0;
    if (json_array(array, &count) < 0)
        return -1;
    while (json_next(array, &item)) {
        if (json_choice(&item, words, &index) < 0)
            return -1;
        *bits |= UINT32_C(1) << index;
    }
    return 0;
}

void words_write(struct jsonw *w, const char *key, const char *const *words, uint32_t bits)
{
    jsonw_array_begin(w, key);
    for (size_t i = 0; words[i]; i++) {
        if (bits & UINT32_C(1) << i)
            jsonw_string(w, NULL, words[i]);
    }
    jsonw_array_end(w);
}

int member_number(const struct json *object, const char *key, size_t size, uint64_t *number)
{
    uint32_t small;

    if (size != sizeof small)
        return member_u64(object, key, number);
    if (member_u32(object, key, &small) < 0)
        return -1;
    *number = small;
    return 0;
}

int member_require(const struct json *object, const char *key, const char *why)
{
    struct json member = json_member(object, key);

    return json_present(&member) ? 0 : json_complain(&member, "missing, %s", why);
}

int optional_int(const struct json *object, const char *key, int64_t min, int64_t max,
                 int64_t *number)
{
    struct json value = json_member(object, key);

    return json_present(&value) ? json_int(&value, min, max, number) : 0;
}

int optional_u64(const struct json *object, const char *key, uint64_t *out)
{
    int64_t number = 0;

    if (optional_int(object, key, 0, MEMBER_MAX, &number) < 0)
        return -1;
    *out = (uint64_t)number;
    return 0;
}

int address_read(const struct json *value, int64_t max, uint64_t *out)
{
    static const char hexadecimal[] = "0123456789abcdefABCDEF";
    enum { ADDRESS_TEXT_MAX = 16 }; /* 14 digits: strtoull() cannot overflow */
    const char *text;
    int64_t number;

    if (!json_is_string(value)) {
        if (json_int(value, 0, max, &number) < 0)
            return -1;
        *out = (uint64_t)number;
        return 0;
    }
    if (json_string(value, ADDRESS_TEXT_MAX, &text) < 0)
        return -1;
    if (strncmp(text, "0x", 2) != 0 || text[2] == '\0' ||
        text[2 + strspn(text + 2, hexadecimal)] != '\0')
        return json_complain(value, "\"%s\" given; hexadecimal digits after \"0x\" are required",
                             text);
    *out = strtoull(text + 2, NULL, 16);
    if (*out > (uint64_t)max)
        return json_complain(value, "%s given; at most 0x%llx is allowed", text,
                             (unsigned long long)max);
    return 0;
}
