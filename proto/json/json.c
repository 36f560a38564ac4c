/* SPDX-License-Identifier: BSD-3-Clause */
#include <cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/json/json.h"
#include "proto/json/utf8.h"

enum { JSON_SCHEMA_MAX = 4095 };

enum { WORD_MAX = 128 }; /* maximum length in bytes of words that are compared */

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the lower-case letter, for ASCII only: the locale must not change a message. */
static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Returns the edit distance of two words: insertions, deletions, changes, swaps of neighbours. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_MAX + 1];
    size_t *older = rows[0], *old = rows[1], *now = rows[2];

    for (size_t j = 0; j <= b_length; j++)
        old[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *spare = older;

        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t change = lower(a[i - 1]) != lower(b[j - 1]);

            now[j] = min(old[j - 1] + change, min(old[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                now[j] = min(now[j], older[j - 2] + 1);
        }
        older = old;
        old = now;
        now = spare;
    }
    return old[b_length];
}

/* Returns the only word that begins with `given`, or null. */
static const char *only_longer(const char *given, size_t length, const char *const *words)
{
    const char *word = NULL;

    for (; length > 1 && *words; words++) {
        if (strncmp(*words, given, length) != 0)
            continue;
        if (word)
            return NULL;
        word = *words;
    }
    return word;
}

const char *nearest_word(const char *given, const char *const *words)
{
    const char *const *const all = words;
    size_t length = strlen(given);
    size_t best = length < 5 ? 2 : 3; /* only words at a smaller edit distance are suggested */
    const char *word = NULL;

    if (length > WORD_MAX)
        return NULL;
    for (; *words; words++) {
        size_t size = strlen(*words), slips;

        if (size > WORD_MAX || size >= length + best || length >= size + best)
            continue;
        slips = distance(given, length, *words, size);
        if (slips < best && slips < length) {
            best = slips;
            word = *words;
        }
    }
    return word ? word : only_longer(given, length, all);
}

/* PATH_MAX_DEPTH: the depth of the deepest value below the root, plus 1 for an absent member. */
enum { PATH_MAX_DEPTH = JSON_DEPTH_MAX + 1, KEY_SHOWN_MAX = 48 };

/*
 * cJSON parses a text that json_check() has accepted, and keeps the values. cJSON finds the same
 * values as json_check(): cJSON reads integers of 53 bits exactly in every locale, and its limit on
 * nesting is higher. So cJSON fails only if out of memory, or on 1x with any_number.
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

/* Collects `value` and the values that contain it, up to the root (or the base of messages), which
 * is left out. Returns their number. */
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

/* Writes the value's name for a message, such as "cfg.offset[1]: ". The root of the text and the
 * base of messages have no name. */
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

void json_fault(const struct json *value, const char *format, ...)
{
    char pointer[FAULT_POINTER_MAX], name[FAULT_TEXT_MAX / 2], text[FAULT_TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    json_pointer(value, pointer, sizeof pointer);
    write_name(value, name, sizeof name);
    fault_fill(value->fault, FAULT_INVALID_PARAMS, pointer, "%s%s", name, text);
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

/* A loop instead of strcmp(): most keys differ in the first character, so a call costs more. */
static bool same(const char *a, const char *b)
{
    for (; *a == *b; a++, b++) {
        if (*a == '\0')
            return true;
    }
    return false;
}

/* Returns the index of `key` in `words`, or the number of words. */
static size_t index_of(const char *key, const char *const *words)
{
    size_t i = 0;

    while (words[i] && !same(key, words[i]))
        i++;
    return i;
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

static int complain_member(const struct json *object, const cJSON *node, bool repeated,
                           const char *const *allowed)
{
    const struct json member = {
        .node = node, .parent = object, .key = node->string, .fault = object->fault};
    const char *near;

    if (repeated)
        return json_complain(&member, "given twice");
    near = nearest_word(member.key, allowed);
    return near ? json_complain(&member, "unknown member; did you mean \"%s\"?", near)
                : json_complain(&member, "unknown member");
}

/* Checks the members of an object. Sets members[i].node to allowed[i] if `members` is not null. */
static int check_members(const struct json *object, const char *const *allowed,
                         struct json *members)
{
    uint64_t seen = 0; /* bit i: allowed[i] has occurred */

    for (const cJSON *node = object->node->child; node; node = node->next) {
        const size_t i = allowed ? index_of(node->string, allowed) : 0;
        const bool known = !allowed || allowed[i];
        const bool repeated = allowed ? known && seen >> i & 1 : is_repeated(object->node, node);

        if (!known || repeated)
            return complain_member(object, node, repeated, allowed);
        seen |= UINT64_C(1) << i;
        if (members)
            members[i].node = node;
    }
    return 0;
}

static int check_object(const struct json *value, const char *const *allowed, struct json *members)
{
    size_t count;

    if (!json_is_object(value))
        return complain_type(value, "an object");
    /* Checks the count first: the search for duplicate keys takes quadratic time. */
    count = count_children(value);
    if (count > JSON_KEYS_MAX)
        return json_complain(value, "%zu members given; at most %d are allowed", count,
                             JSON_KEYS_MAX);
    return check_members(value, allowed, members);
}

int json_object(const struct json *value, const char *const *allowed)
{
    return check_object(value, allowed, NULL);
}

int json_members(const struct json *value, const char *const *keys, struct json *members)
{
    for (size_t i = 0; keys[i]; i++)
        members[i] = (struct json){.parent = value, .key = keys[i], .fault = value->fault};
    return json_present(value) ? check_object(value, keys, members) : 0;
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
    number = (int64_t)value->node->valuedouble; /* exact: json_check() allows only 53 bits */
    if (number < min || number > max)
        return json_complain(value, "%" PRId64 " given; must be %" PRId64 " to %" PRId64 "", number,
                             min, max);
    *out = number;
    return 0;
}

int present_int(const struct json *value, int64_t min, int64_t max, int64_t *number)
{
    return json_present(value) ? json_int(value, min, max, number) : 0;
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
    int64_t number = 0; /* gcc for some processors does not see that read_number() sets it */

    if (read_number(object, key, MEMBER_MAX, &number) < 0)
        return -1;
    *out = (uint64_t)number;
    return 0;
}

int member_u32(const struct json *object, const char *key, uint32_t *out)
{
    int64_t number = 0; /* gcc for some processors does not see that read_number() sets it */

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
    size_t count, index = 0;

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

int member_require(const struct json *object, const char *key, const char *why)
{
    struct json member = json_member(object, key);

    return json_present(&member) ? 0 : json_complain(&member, "missing, %s", why);
}

int optional_int(const struct json *object, const char *key, int64_t min, int64_t max,
                 int64_t *number)
{
    struct json value = json_member(object, key);

    return present_int(&value, min, max, number);
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
    enum { ADDRESS_TEXT_MAX = 16 }; /* "0x" and 14 digits: strtoull() cannot overflow */
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

/* Opens a regular file. Returns -EINVAL for other files, which could block the caller. */
static int open_regular(const char *path)
{
    /* Without O_NONBLOCK, opening a pipe would wait for a writer. */
    struct stat st;
    int fd, error;

    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return -errno;
    error = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (error == 0)
        return fd;
    close(fd);
    return error;
}

/* Reads at most `size` bytes of a file. Sets *whole to the size of the file. Returns the number of
 * bytes read, or -errno. */
static ssize_t read_all(const char *path, char *text, size_t size, uint64_t *whole)
{
    int fd = open_regular(path);
    size_t length = 0;
    struct stat st;
    ssize_t got = 0;

    if (fd < 0)
        return fd;
    while (length < size &&
           ((got = read(fd, text + length, size - length)) > 0 || (got < 0 && errno == EINTR)))
        length += got > 0 ? (size_t)got : 0;
    if (got < 0)
        got = -errno;
    *whole = fstat(fd, &st) == 0 && (uint64_t)st.st_size > length ? (uint64_t)st.st_size : length;
    close(fd);
    return got < 0 ? got : (ssize_t)length;
}

int json_file_read(const char *path, size_t max, char **text, size_t *length, struct fault *fault)
{
    uint64_t whole = 0;
    ssize_t got;

    *text = malloc(max + 1);
    if (!*text)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory");
    got = read_all(path, *text, max + 1, &whole);
    if (got >= 0 && (size_t)got <= max) {
        *length = (size_t)got;
        return 0;
    }
    free(*text);
    *text = NULL;
    if (got >= 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "the file has %" PRIu64 " bytes; at most %zu are accepted", whole, max);
    if (got == -EINVAL)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "a regular file is required, with at most %zu KiB", max / 1024);
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s", strerror((int)-got));
}

int json_file_parse(const char *text, size_t length, const struct json_limits *limits,
                    struct json *root, struct fault *fault)
{
    if (json_parse(text, length, limits, root, fault) == 0)
        return 0;
    if (fault->code == FAULT_LIMIT)
        fault->code = FAULT_INVALID_PARAMS;
    return -1;
}

void json_file_name(struct fault *fault, const char *path)
{
    struct fault bare = *fault;
    const char *pointer = bare.has_pointer ? bare.pointer : NULL;

    if (bare.line > 0)
        fault_set(fault, bare.code, pointer, "%s:%u:%u: %s", path, bare.line, bare.column,
                  bare.text);
    else
        fault_set(fault, bare.code, pointer, "%s: %s", path, bare.text);
    fault->line = bare.line;
    fault->column = bare.column;
}
