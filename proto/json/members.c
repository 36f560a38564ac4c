/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of members: see json.h. */
#include <assert.h>
#include <string.h>

#include "proto/json/json.h"

enum { TABLE_MAX = 32 }; /* members of the longest table that members_read_closed() reads */

static void store(void *structure, const struct member *member, size_t index, int64_t value)
{
    char *field = (char *)structure + member->at + index * member->size;
    const uint32_t narrow = (uint32_t)value;

    if (member->size == 1)
        *field = (char)value;
    else if (member->size == sizeof narrow)
        memcpy(field, &narrow, sizeof narrow);
    else
        memcpy(field, &value, sizeof value);
}

static int64_t load(const void *structure, const struct member *member, size_t index)
{
    const char *field = (const char *)structure + member->at + index * member->size;
    uint32_t narrow;
    int64_t value;

    if (member->size == 1)
        return *field;
    if (member->size != sizeof narrow) {
        memcpy(&value, field, sizeof value);
        return value;
    }
    memcpy(&narrow, field, sizeof narrow);
    return member->min < 0 || member->standard < 0 ? (int32_t)narrow : (int64_t)narrow;
}

void members_default(void *structure, const struct member *members)
{
    for (const struct member *m = members; m->key; m++) {
        if (m->kind == KIND_NUMBER || m->kind == KIND_WORD)
            store(structure, m, 0, m->standard);
        else if (m->kind == KIND_OBJECT)
            members_default((char *)structure + m->at, m->members);
    }
}

static int read_numbers(void *structure, const struct member *member, const struct json *array)
{
    struct json item = {0};
    size_t count;
    int64_t number;

    if (json_array(array, &count) < 0)
        return -1;
    if (count != member->count)
        return json_complain(array, "%zu entries given; %zu are required", count, member->count);
    while (json_next(array, &item)) {
        if (json_int(&item, member->min, member->max, &number) < 0)
            return -1;
        store(structure, member, item.index, number);
    }
    return 0;
}

static int read_list(void *structure, const struct member *member, const struct json *array)
{
    struct json item = {0};
    char *items = (char *)structure + member->at;
    size_t count;
    uint32_t kept;

    if (array_within(array, member->count, &count) < 0)
        return -1;
    while (json_next(array, &item)) {
        if (members_read_open(items + item.index * member->size, member->members, &item) < 0)
            return -1;
    }
    kept = (uint32_t)count;
    memcpy((char *)structure + member->count_at, &kept, sizeof kept);
    return 0;
}

/* Recurses once for each level of tables. */
static int read_member(void *structure, const struct member *member, const struct json *value)
{
    char *field = (char *)structure + member->at;
    int64_t number;
    const char *text;
    size_t index;
    bool yes;

    switch (member->kind) {
    case KIND_NUMBER:
        if (json_int(value, member->min, member->max, &number) < 0)
            return -1;
        store(structure, member, 0, number);
        return 0;
    case KIND_NUMBERS:
        return read_numbers(structure, member, value);
    case KIND_BOOL:
        if (json_bool(value, &yes) < 0)
            return -1;
        store(structure, member, 0, yes);
        return 0;
    case KIND_TEXT:
        if (json_text(value, member->size - 1, &text) < 0)
            return -1;
        memset(field, 0, member->size);
        strcpy(field, text);
        return 0;
    case KIND_WORD:
        if (json_choice(value, member->words, &index) < 0)
            return -1;
        store(structure, member, 0, member->min + (int64_t)index);
        return 0;
    case KIND_OBJECT:
        return member->closed ? members_read_closed(field, member->members, value)
                              : members_read_open(field, member->members, value);
    case KIND_LIST:
        return read_list(structure, member, value);
    case KIND_OTHER:
        break;
    }
    return 0;
}

int members_read(void *structure, const struct member *members, const struct json *object)
{
    for (const struct member *m = members; m->key; m++) {
        struct json value = json_member(object, m->key);

        if ((json_present(&value) || !m->optional) && read_member(structure, m, &value) < 0)
            return -1;
    }
    return 0;
}

int members_read_open(void *structure, const struct member *members, const struct json *object)
{
    return json_object(object, NULL) < 0 ? -1 : members_read(structure, members, object);
}

int members_read_closed(void *structure, const struct member *members, const struct json *object)
{
    const char *keys[TABLE_MAX + 1];
    size_t count = 0;

    if (!json_present(object))
        return 0;
    for (const struct member *m = members; m->key; m++) {
        assert(count < TABLE_MAX);
        keys[count++] = m->key;
    }
    keys[count] = NULL;
    return json_object(object, keys) < 0 ? -1 : members_read(structure, members, object);
}

static uint32_t list_count(const void *structure, const struct member *member)
{
    uint32_t count;

    memcpy(&count, (const char *)structure + member->count_at, sizeof count);
    return count;
}

/* Returns whether an optional member is not written: it has its default or is empty. */
static bool is_left_out(const void *structure, const struct member *member)
{
    switch (member->kind) {
    case KIND_TEXT:
        return *((const char *)structure + member->at) == '\0';
    case KIND_LIST:
        return list_count(structure, member) == 0;
    case KIND_NUMBER:
    case KIND_BOOL:
    case KIND_WORD:
        return load(structure, member, 0) == member->standard;
    default:
        return false;
    }
}

/* jsonw_uint() writes a counter above the largest number of the protocol as that number. */
static void write_number(struct jsonw *w, const char *key, const struct member *member,
                         const void *structure, size_t index)
{
    const int64_t number = load(structure, member, index);

    if (member->size == sizeof number)
        jsonw_uint(w, key, (uint64_t)number);
    else
        jsonw_int(w, key, number);
}

/* Recurses once for each level of tables. */
static void write_member(struct jsonw *w, const struct member *member, const void *structure)
{
    const char *key = member->key, *field = (const char *)structure + member->at;

    switch (member->kind) {
    case KIND_NUMBER:
        write_number(w, key, member, structure, 0);
        break;
    case KIND_NUMBERS:
        jsonw_array_begin(w, key);
        for (size_t i = 0; i < member->count; i++)
            write_number(w, NULL, member, structure, i);
        jsonw_array_end(w);
        break;
    case KIND_BOOL:
        jsonw_bool(w, key, *field);
        break;
    case KIND_TEXT:
        jsonw_string(w, key, field);
        break;
    case KIND_WORD:
        jsonw_string(w, key, member->words[load(structure, member, 0) - member->min]);
        break;
    case KIND_OBJECT:
        members_write_object(w, key, member->members, field);
        break;
    case KIND_LIST:
        jsonw_array_begin(w, key);
        for (uint32_t i = 0; i < list_count(structure, member); i++)
            members_write_object(w, NULL, member->members, field + i * member->size);
        jsonw_array_end(w);
        break;
    case KIND_OTHER:
        break;
    }
}

void members_write(struct jsonw *w, const struct member *members, const void *structure)
{
    for (const struct member *m = members; m->key; m++) {
        if (!m->optional || !is_left_out(structure, m))
            write_member(w, m, structure);
    }
}

void members_write_object(struct jsonw *w, const char *key, const struct member *members,
                          const void *structure)
{
    jsonw_object_begin(w, key);
    members_write(w, members, structure);
    jsonw_object_end(w);
}
