/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/plain_json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 1000 };

struct reader {
    const char *at, *end;
    bool beyond;
    int depth;
};

static bool next_is(struct reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static void skip(struct reader *r)
{
    while (next_is(r, ' ') || next_is(r, '\t') || next_is(r, '\n') || next_is(r, '\r'))
        ;
}

static bool word_is(struct reader *r, const char *word)
{
    const size_t length = strlen(word);

    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* Strings */

/* Reads four hexadecimal digits. Returns -1 if there are fewer. */
static long read_unit(struct reader *r)
{
    static const char digits[] = "00112233445566778899aAbBcCdDeEfF";
    long unit = 0;

    for (int i = 0; i < 4; i++) {
        const char *digit = r->at < r->end && *r->at ? strchr(digits, *r->at) : NULL;

        if (!digit)
            return -1;
        unit = unit * 16 + (digit - digits) / 2;
        r->at++;
    }
    return unit;
}

/* Reads an escape after its backslash. Returns its code, or -1 if it is invalid. */
static long read_escape(struct reader *r)
{
    static const char letters[] = "nrtbf\"\\/", codes[] = "\n\r\t\b\f\"\\/";
    const char letter = r->at < r->end ? *r->at++ : '\0';
    const char *found = letter ? strchr(letters, letter) : NULL;
    long first, second;

    if (found)
        return codes[found - letters];
    first = letter == 'u' ? read_unit(r) : -1;
    if (first < 0xd800 || first >= 0xe000)
        return first;
    second = first < 0xdc00 && word_is(r, "\\u") ? read_unit(r) : -1;
    return second < 0xdc00 || second >= 0xe000 ? -1
                                               : 0x10000 + (first % 0x400) * 0x400 + second % 0x400;
}

/* Reads one character that is written as itself. Returns its code, or -1 if it is invalid. */
static long read_char(struct reader *r)
{
    static const long least[] = {0x20, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)*r->at++;
    const int more = first < 0xc0 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    long code = more == 0 ? first : first % (0x40 >> more);

    if (first >= 0xf8 || (first >= 0x80 && first < 0xc0))
        return -1;
    for (int i = 0; i < more; i++) {
        if (r->at == r->end || ((unsigned char)*r->at & 0xc0) != 0x80)
            return -1;
        code = code * 0x40 + (unsigned char)*r->at++ % 0x40;
    }
    return code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? -1 : code;
}

static char *put_char(char *out, long code)
{
    const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;

    *out++ = (char)(more == 0 ? code : (0xff00 >> (more + 1) & 0xff) | code >> 6 * more);
    for (int i = more - 1; i >= 0; i--)
        *out++ = (char)(0x80 | (code >> 6 * i & 0x3f));
    return out;
}

/*
 * Returns how many bytes of the text a string takes, from the byte after its first quote to its
 * last quote.
 */
static size_t string_length(const struct reader *r)
{
    const char *at = r->at;

    while (at < r->end && *at != '"')
        at += *at == '\\' && r->end - at > 1 ? 2 : 1;
    return (size_t)(at - r->at);
}

/* Reads a string after its first quote. Returns null if it is invalid. */
static char *read_string(struct reader *r)
{
    char *string = malloc(string_length(r) + 1), *out = string;

    while (string && r->at < r->end) {
        long code;

        if (next_is(r, '"')) {
            *out = '\0';
            return string;
        }
        code = next_is(r, '\\') ? read_escape(r) : read_char(r);
        if (code < 0)
            break;
        r->beyond = r->beyond || code == 0;
        out = put_char(out, code);
    }
    free(string);
    return NULL;
}

/* Numbers */

static bool read_digits(struct reader *r)
{
    const char *begin = r->at;

    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        r->at++;
    return r->at > begin;
}

static bool read_number(struct reader *r, double *number)
{
    const char *const begin = r->at;
    char text[400] = "";
    bool whole = true;

    next_is(r, '-');
    if (!next_is(r, '0') && !read_digits(r))
        return false;
    if (next_is(r, '.')) {
        whole = false;
        if (!read_digits(r))
            return false;
    }
    if (next_is(r, 'e') || next_is(r, 'E')) {
        whole = false;
        if (!next_is(r, '+'))
            next_is(r, '-');
        if (!read_digits(r))
            return false;
    }
    if ((size_t)(r->at - begin) < sizeof text) /* the tests do not compare longer numbers */
        memcpy(text, begin, (size_t)(r->at - begin));
    *number = strtod(text, NULL);
    if (!whole || !*text || *number >= 0x1p53 || *number <= -0x1p53)
        r->beyond = true;
    return true;
}

/* Values */

static struct plain *read_value(struct reader *r);

/* Reads the elements or members after the opening bracket. Returns false if they are invalid. */
static bool read_children(struct reader *r, struct plain *container)
{
    const bool object = container->kind == PLAIN_OBJECT;
    struct plain **last = &container->child;

    skip(r);
    if (next_is(r, object ? '}' : ']'))
        return true;
    do {
        char *key = NULL;

        skip(r);
        if (object) {
            key = next_is(r, '"') ? read_string(r) : NULL;
            skip(r);
            if (!key || !next_is(r, ':')) {
                free(key);
                return false;
            }
        }
        *last = read_value(r);
        if (!*last) {
            free(key);
            return false;
        }
        (*last)->key = key;
        last = &(*last)->next;
    } while (next_is(r, ','));
    return next_is(r, object ? '}' : ']');
}

static bool fill_value(struct reader *r, struct plain *value)
{
    static const char *const literals[] = {
        [PLAIN_NULL] = "null", [PLAIN_FALSE] = "false", [PLAIN_TRUE] = "true"};

    for (int kind = PLAIN_NULL; kind <= PLAIN_TRUE; kind++) {
        value->kind = (enum plain_kind)kind;
        if (word_is(r, literals[kind]))
            return true;
    }
    if (next_is(r, '"')) {
        value->kind = PLAIN_STRING;
        value->string = read_string(r);
        return value->string;
    }
    if (r->at < r->end && (*r->at == '[' || *r->at == '{')) {
        value->kind = *r->at++ == '[' ? PLAIN_ARRAY : PLAIN_OBJECT;
        return r->depth <= DEPTH_MAX && read_children(r, value);
    }
    value->kind = PLAIN_NUMBER;
    return read_number(r, &value->number);
}

/* Reads a value with the space around it. */
static struct plain *read_value(struct reader *r)
{
    struct plain *value = calloc(1, sizeof *value);

    r->depth++;
    skip(r);
    if (!value || !fill_value(r, value)) {
        plain_free(value);
        return NULL;
    }
    skip(r);
    r->depth--;
    return value;
}

struct plain *plain_read(const char *text, size_t length, bool *beyond)
{
    struct reader r = {.at = text, .end = text + length};
    struct plain *value = read_value(&r);

    *beyond = r.beyond;
    if (r.at == r.end)
        return value;
    plain_free(value);
    return NULL;
}

void plain_free(struct plain *value)
{
    while (value) {
        struct plain *next = value->next;

        plain_free(value->child);
        free(value->string);
        free(value->key);
        free(value);
        value = next;
    }
}

const struct plain *plain_member(const struct plain *object, const char *key)
{
    const struct plain *member = object->kind == PLAIN_OBJECT ? object->child : NULL;

    while (member && strcmp(member->key, key) != 0)
        member = member->next;
    return member;
}
