/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/file/npy_literal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct scan {
    const char *text;
    size_t length, at;
    enum npy_scope scope;
    struct fault *fault;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct scan *scan, const char *format,
                                                        ...)
{
    char text[FAULT_TEXT_MAX / 2];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return fault_set(scan->fault, FAULT_INVALID_PARAMS, NULL, "npy header, byte %zu: %s", scan->at,
                     text);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static void skip_space(struct scan *scan)
{
    while (scan->at < scan->length && is_space(scan->text[scan->at]))
        scan->at++;
}

static bool next_is(struct scan *scan, char c)
{
    skip_space(scan);
    return scan->at < scan->length && scan->text[scan->at] == c;
}

static bool accept(struct scan *scan, char c)
{
    if (!next_is(scan, c))
        return false;
    scan->at++;
    return true;
}

static int expect(struct scan *scan, char c)
{
    return accept(scan, c) ? 0 : refuse(scan, "'%c' is expected", c);
}

/* Takes a string in either kind of quotes, without escapes: no known name or dtype contains any. */
static int read_string(struct scan *scan, char *out, size_t size)
{
    size_t begin, length;
    const char *end;

    skip_space(scan);
    if (!next_is(scan, '\'') && !next_is(scan, '"'))
        return refuse(scan, "a string is expected");
    begin = scan->at + 1;
    end = memchr(scan->text + begin, scan->text[scan->at], scan->length - begin);
    if (!end)
        return refuse(scan, "the string that begins here does not end");
    length = (size_t)(end - (scan->text + begin));
    if (length >= size || memchr(scan->text + begin, '\\', length) ||
        memchr(scan->text + begin, '\0', length) || memchr(scan->text + begin, '\n', length))
        return refuse(scan, "a string of less than %zu plain characters is expected", size);
    memcpy(out, scan->text + begin, length);
    out[length] = '\0';
    scan->at = begin + length + 1;
    return 0;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool accept_word(struct scan *scan, const char *word)
{
    size_t length = strlen(word);

    skip_space(scan);
    if (scan->length - scan->at < length || memcmp(scan->text + scan->at, word, length) != 0)
        return false;
    if (scan->length - scan->at > length && is_name_char(scan->text[scan->at + length]))
        return false;
    scan->at += length;
    return true;
}

static int read_bool(struct scan *scan, bool *value)
{
    *value = accept_word(scan, "True");
    return *value || accept_word(scan, "False") ? 0 : refuse(scan, "True or False is expected");
}

static int read_extent(struct scan *scan, uint64_t *extent)
{
    uint64_t max = scan->scope == NPY_ANY ? INT64_MAX : UINT32_MAX;
    size_t begin;
    uint64_t value = 0;

    skip_space(scan);
    if (next_is(scan, '-'))
        return refuse(scan, "an extent cannot be negative");
    for (begin = scan->at; scan->at < scan->length; scan->at++) {
        char c = scan->text[scan->at];

        if (c < '0' || c > '9')
            break;
        if (value > (max - (uint64_t)(c - '0')) / 10)
            return refuse(scan, "an extent above %" PRIu64 " is not supported", max);
        value = value * 10 + (uint64_t)(c - '0');
    }
    if (scan->at == begin)
        return refuse(scan, "an extent is expected");
    if (scan->at - begin > 1 && scan->text[begin] == '0')
        return refuse(scan, "an extent does not begin with 0");
    /* Python 2 wrote long integers as 3L. */
    if (scan->at < scan->length && scan->text[scan->at] == 'L')
        scan->at++;
    *extent = value;
    return 0;
}

/* Takes "(2, 3)", "(2, 3,)" or "(2,)"; refuses "(2)", which is a number in Python. */
static int read_shape(struct scan *scan, struct npy_literal *literal)
{
    uint32_t most = scan->scope == NPY_ANY ? NPY_RANK_MAX : MLI_MAX_RANK;
    bool comma = true;

    if (expect(scan, '(') < 0)
        return -1;
    literal->rank = 0;
    while (!next_is(scan, ')')) {
        if (!comma)
            return refuse(scan, "',' or ')' is expected");
        if (literal->rank == most)
            return refuse(scan, "the shape has more than %" PRIu32 " dimensions", most);
        if (read_extent(scan, &literal->shape[literal->rank++]) < 0)
            return -1;
        comma = accept(scan, ',');
    }
    if (literal->rank == 0 && scan->scope == NPY_OURS)
        return refuse(scan, "the shape has no dimension; 1 to %d are required", MLI_MAX_RANK);
    if (literal->rank == 1 && !comma)
        return refuse(scan, "a shape of one dimension is written with a comma, as (3,)");
    return expect(scan, ')');
}

/* Skips a list of lists, tuples and strings. */
static int skip_list(struct scan *scan)
{
    size_t depth = 0;

    do {
        char c = scan->at < scan->length ? scan->text[scan->at] : '\0';
        const char *end = NULL;

        if (c == '[' || c == '(')
            depth++;
        else if (c == ']' || c == ')')
            depth--;
        else if (c == '\'' || c == '"')
            end = memchr(scan->text + scan->at + 1, c, scan->length - scan->at - 1);
        if (c == '\0' || ((c == '\'' || c == '"') && !end))
            return refuse(scan, "the structured dtype is not terminated");
        scan->at = (end ? (size_t)(end - scan->text) : scan->at) + 1;
    } while (depth > 0);
    return 0;
}

static int read_descr(struct scan *scan, struct npy_literal *literal)
{
    if (next_is(scan, '[') && scan->scope == NPY_OURS)
        return refuse(scan, "a structured dtype is not supported");
    if (next_is(scan, '[')) {
        strcpy(literal->descr, "structured");
        return skip_list(scan);
    }
    return read_string(scan, literal->descr, sizeof literal->descr);
}

enum key { KEY_DESCR = 1, KEY_FORTRAN_ORDER = 2, KEY_SHAPE = 4, KEY_ALL = 7 };

static int read_member(struct scan *scan, struct npy_literal *literal, unsigned *seen)
{
    static const struct {
        const char *name;
        enum key key;
    } keys[] = {{"descr", KEY_DESCR}, {"fortran_order", KEY_FORTRAN_ORDER}, {"shape", KEY_SHAPE}};
    char name[32];
    unsigned key = 0;

    if (read_string(scan, name, sizeof name) < 0)
        return -1;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(name, keys[i].name) == 0)
            key = keys[i].key;
    }
    if (key == 0)
        return refuse(scan, "'%s' is unknown; descr, fortran_order and shape are known", name);
    if (*seen & key)
        return refuse(scan, "'%s' is given twice", name);
    *seen |= key;
    if (expect(scan, ':') < 0)
        return -1;
    if (key == KEY_DESCR)
        return read_descr(scan, literal);
    return key == KEY_SHAPE ? read_shape(scan, literal) : read_bool(scan, &literal->fortran_order);
}

int npy_literal_parse(const char *text, size_t length, enum npy_scope scope,
                      struct npy_literal *literal, struct fault *fault)
{
    struct scan scan = {.text = text, .length = length, .scope = scope, .fault = fault};
    unsigned seen = 0;
    bool comma = true;

    *literal = (struct npy_literal){0};
    if (expect(&scan, '{') < 0)
        return -1;
    while (!next_is(&scan, '}')) {
        if (!comma)
            return refuse(&scan, "',' or '}' is expected");
        if (read_member(&scan, literal, &seen) < 0)
            return -1;
        comma = accept(&scan, ',');
    }
    if (seen != KEY_ALL)
        return refuse(&scan, "%s is missing",
                      !(seen & KEY_DESCR)           ? "'descr'"
                      : !(seen & KEY_FORTRAN_ORDER) ? "'fortran_order'"
                                                    : "'shape'");
    scan.at++;
    skip_space(&scan);
    if (scan.at != length)
        return refuse(&scan, "nothing but spaces may follow the dictionary");
    return text[length - 1] == '\n' ? 0 : refuse(&scan, "a newline must end the header");
}
