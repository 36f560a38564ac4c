/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/json.h"

#include <cJSON.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json/nearest.h"
#include "proto/json/utf8.h"

/* Depth of the deepest value below the root, and one more for an absent member. */
enum { PATH_MAX_DEPTH = JSON_DEPTH_MAX + 1, KEY_SHOWN_MAX = 48 };

/*
 * cJSON keeps the values of a text that json_check() has accepted. Of such a text it finds the same
 * values: it reads integers of 53 bits exactly in every locale, and its limit on nesting is higher.
 * So it fails for want of memory only.
 */
int json_parse(const char *text, size_t length, const struct json_limits *limits, struct json *root,
               struct fault *fault)
{
    *root = (struct json){.fault = fault};
    if (json_check(text, length, limits, fault) < 0)
        return -1;
    root->node = cJSON_ParseWithLength(text, length);
    if (!root->node)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for %zu bytes of JSON", length);
    return 0;
}

void json_free(struct json *root)
{
    cJSON_Delete((cJSON *)(uintptr_t)root->node);
    root->node = NULL;
}

/* Faults */

/* Collects the values from below the root (or the base) down to `value`. Returns their number. */
static size_t collect_path(const struct json *value, bool from_base,
                           const struct json *path[PATH_MAX_DEPTH])
{
    size_t depth = 0;

    for (const struct json *at = value; at->parent && !(from_base && at->base); at = at->parent)
        depth++;
    for (size_t i = depth; i > 0; i--, value = value->parent) {
        if (i <= PATH_MAX_DEPTH)
            path[i - 1] = value;
    }
    return depth < PATH_MAX_DEPTH ? depth : PATH_MAX_DEPTH;
}

void json_pointer(const struct json *value, char *out, size_t size)
{
    const struct json *path[PATH_MAX_DEPTH];
    size_t depth = collect_path(value, false, path);
    struct pointer pointer;

    pointer_init(&pointer, out, size);
    for (size_t i = 0; i < depth; i++) {
        if (path[i]->key) {
            pointer_token(&pointer);
            pointer_text(&pointer, path[i]->key, strlen(path[i]->key));
        } else {
            pointer_index(&pointer, path[i]->index);
        }
    }
}

/* Returns the number of bytes of `text` that an error message repeats. */
static int shown(const char *text)
{
    size_t length = strlen(text);

    return (int)(length > KEY_SHOWN_MAX ? utf8_cut(text, KEY_SHOWN_MAX) : length);
}

/* Writes the value's name for a message, as "cfg.offset[1]: "; nothing for root and base. */
static void write_name(const struct json *value, char *out, size_t size)
{
    const struct json *path[PATH_MAX_DEPTH];
    size_t depth = collect_path(value, true, path), length = 0;

    out[0] = '\0';
    for (size_t i = 0; i < depth && length < size; i++) {
        const char *key = path[i]->key;
        int added;

        if (!key)
            added = snprintf(out + length, size - length, "[%zu]", path[i]->index);
        else
            added = snprintf(out + length, size - length, "%s%.*s%s", i ? "." : "", shown(key), key,
                             strlen(key) > KEY_SHOWN_MAX ? "..." : "");
        length += (size_t)added;
    }
    if (length > size - sizeof ": ") /* the name may be cut, but not the colon */
        length = utf8_cut(out, size - sizeof ": ");
    if (depth > 0)
        strcpy(out + length, ": ");
}

int json_complain(const struct json *value, const char *format, ...)
{
    char pointer[FAULT_POINTER_MAX], name[FAULT_TEXT_MAX / 2], text[FAULT_TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    json_pointer(value, pointer, sizeof pointer);
    write_name(value, name, sizeof name);
    return fault_set(value->fault, FAULT_INVALID_PARAMS, pointer, "%s%s", name, text);
}

static const char *type_name(const struct json *value)
{
    switch (value->node->type) {
    case cJSON_False:
    case cJSON_True:
        return "true or false";
    case cJSON_NULL:
        return "null";
    case cJSON_Number:
        return "a number";
    case cJSON_String:
        return "a string";
    case cJSON_Array:
        return "an array";
    default:
        return "an object";
    }
}

static int complain_type(const struct json *value, const char *required)
{
    if (!value->node)
        return json_complain(value, "missing, %s is required", required);
    return json_complain(value, "%s is required, not %s", required, type_name(value));
}

/* Types */

static bool has_type(const struct json *value, int type)
{
    return value->node && value->node->type == type;
}

bool json_is_int(const struct json *value)
{
    return has_type(value, cJSON_Number);
}

bool json_is_string(const struct json *value)
{
    return has_type(value, cJSON_String);
}

bool json_is_array(const struct json *value)
{
    return has_type(value, cJSON_Array);
}

bool json_is_object(const struct json *value)
{
    return has_type(value, cJSON_Object);
}

bool json_is_null(const struct json *value)
{
    return has_type(value, cJSON_NULL);
}

/* Returns the number of elements or members of a container. */
static size_t count_children(const struct json *container)
{
    size_t count = 0;

    for (const cJSON *child = container->node->child; child; child = child->next)
        count++;
    return count;
}

/* Objects */

/* Compares the first character before calling strcmp(), because most keys differ in it. */
static bool same(const char *a, const char *b)
{
    for (; *a == *b; a++, b++) {
        if (*a == '\0')
            return true;
    }
    return false;
}

static bool is_one_of(const char *key, const char *const *words)
{
    for (; *words; words++) {
        if (same(key, *words))
            return true;
    }
    return false;
}

/* Returns whether a member of `object` before `member` has the same key. */
static bool is_repeated(const cJSON *object, const cJSON *member)
{
    const cJSON *before;

    for (before = object->child; before != member; before = before->next) {
        if (same(before->string, member->string))
            return true;
    }
    return false;
}

int json_object(const struct json *value, const char *const *allowed)
{
    size_t count;

    if (!json_is_object(value))
        return complain_type(value, "an object");
    /* Checks the count first: the search for duplicate keys takes quadratic time. */
    count = count_children(value);
    if (count > JSON_KEYS_MAX)
        return json_complain(value, "%zu members given; at most %d are allowed", count,
                             JSON_KEYS_MAX);
    for (const cJSON *node = value->node->child; node; node = node->next) {
        struct json member;
        const char *near;
        bool repeated = is_repeated(value->node, node);

        if (!repeated && (!allowed || is_one_of(node->string, allowed)))
            continue;
        member = (struct json){
            .node = node, .parent = value, .key = node->string, .fault = value->fault};
        if (repeated)
            return json_complain(&member, "given twice");
        near = nearest_word(member.key, allowed);
        return near ? json_complain(&member, "unknown member; did you mean \"%s\"?", near)
                    : json_complain(&member, "unknown member");
    }
    return 0;
}

struct json json_member(const struct json *object, const char *key)
{
    struct json member = {.parent = object, .key = key, .fault = object->fault};

    if (!json_is_object(object))
        return member;
    for (member.node = object->node->child; member.node; member.node = member.node->next) {
        if (same(member.node->string, key))
            return member;
    }
    if (object->defaults) {
        struct json standin = json_member(object->defaults, key);
        if (standin.node)
            return standin;
    }
    return member;
}

int json_check_schema(const struct json *root)
{
    struct json schema = json_member(root, JSON_SCHEMA_KEY);
    const char *ignored;

    return json_present(&schema) ? json_string(&schema, JSON_SCHEMA_MAX, &ignored) : 0;
}

struct json json_member_merged(const struct json *object, const char *key, struct json *storage)
{
    struct json member = json_member(object, key);

    if (member.parent == object && object->defaults) {
        *storage = json_member(object->defaults, key);
        member.defaults = storage;
    }
    return member;
}

/* Scalars */

int json_int(const struct json *value, int64_t min, int64_t max, int64_t *out)
{
    int64_t number;

    if (!json_is_int(value))
        return complain_type(value, "a whole number");
    number = (int64_t)value->node->valuedouble; /* exact: json_check() allows 53 bits */
    if (number < min || number > max)
        return json_complain(value, "%" PRId64 " given; must be %" PRId64 " to %" PRId64 "", number,
                             min, max);
    *out = number;
    return 0;
}

int json_bool(const struct json *value, bool *out)
{
    if (!has_type(value, cJSON_True) && !has_type(value, cJSON_False))
        return complain_type(value, "true or false");
    *out = has_type(value, cJSON_True);
    return 0;
}

int json_text(const struct json *value, size_t max, const char **out)
{
    size_t length;

    if (!json_is_string(value)) {
        complain_type(value, "a string");
        return -1;
    }
    length = strlen(value->node->valuestring);
    if (length > max) {
        json_complain(value, "%zu bytes given; at most %zu are allowed", length, max);
        return -1;
    }
    *out = value->node->valuestring;
    return 0;
}

int json_string_copy(const struct json *value, size_t max, char **out)
{
    const char *text;

    if (json_string(value, max, &text) < 0)
        return -1;
    free(*out);
    *out = strdup(text);
    return *out ? 0 : fault_set(value->fault, FAULT_INTERNAL, NULL, "no memory for a string");
}

int json_string(const struct json *value, size_t max, const char **out)
{
    if (json_text(value, max, out) < 0)
        return -1;
    return **out ? 0 : json_complain(value, "must not be empty");
}

/* Writes the words with commas between them; "..." replaces words that do not fit. */
static void list_words(const char *const *words, char *out, size_t size)
{
    size_t length = 0;

    out[0] = '\0';
    for (size_t i = 0; words[i]; i++) {
        if (length + strlen(", ") + strlen(words[i]) + sizeof ", ..." > size) {
            strcpy(out + length, ", ...");
            return;
        }
        length += (size_t)sprintf(out + length, "%s%s", i ? ", " : "", words[i]);
    }
}

int json_complain_choice(const struct json *value, const char *given, const char *const *words)
{
    const char *near = nearest_word(given, words);
    char list[FAULT_TEXT_MAX / 2];

    if (near)
        return json_complain(value, "\"%.*s\" is unknown; did you mean \"%s\"?", shown(given),
                             given, near);
    list_words(words, list, sizeof list);
    return json_complain(value, "\"%.*s\" is unknown; known: %s", shown(given), given, list);
}

int json_choice(const struct json *value, const char *const *words, size_t *index)
{
    const char *given;

    if (json_string(value, JSON_WORD_MAX, &given) < 0)
        return -1;
    for (size_t i = 0; words[i]; i++) {
        if (same(given, words[i])) {
            *index = i;
            return 0;
        }
    }
    return json_complain_choice(value, given, words);
}

/* Arrays */

int json_array(const struct json *array, size_t *count)
{
    if (!json_is_array(array))
        return complain_type(array, "an array");
    *count = count_children(array);
    return 0;
}

static const cJSON *first_child(const struct json *value)
{
    return json_is_array(value) || json_is_object(value) ? value->node->child : NULL;
}

bool json_next(const struct json *array, struct json *item)
{
    const cJSON *node = item->node ? item->node->next : first_child(array);
    size_t index = item->node ? item->index + 1 : 0;

    if (!node)
        return false;
    *item = (struct json){
        .node = node, .parent = array, .key = node->string, .index = index, .fault = array->fault};
    return true;
}

/* Text */

/* jsonw_key() escapes the key, which may contain any character. */
static void write_member(struct jsonw *w, const struct json *member)
{
    jsonw_key(w, member->key);
    json_write(w, NULL, member);
}

/* Recurses once for each level of nesting; json_check() limits the depth. */
void json_write(struct jsonw *w, const char *key, const struct json *value)
{
    struct json item = {0};

    switch (value->node->type) {
    case cJSON_False:
    case cJSON_True:
        jsonw_bool(w, key, value->node->type == cJSON_True);
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
