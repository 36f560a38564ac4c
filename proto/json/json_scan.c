/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "proto/json/fault.h"
#include "proto/json/json.h"
#include "proto/json/utf8.h"

/* An array or object whose end is not reached yet. */
struct level {
    bool object;
    bool within;     /* true: inside an element or member; false: between two of them */
    size_t index;    /* for an array: index of the current element */
    const char *key; /* for an object: key of the current member, undecoded, without quotes */
    size_t key_length;
};

struct scan {
    const char *text;
    size_t length, at;
    const struct json_limits *limits;
    size_t values;
    size_t depth;
    struct level levels[JSON_DEPTH_MAX];
    struct fault *fault;
};

/* Escapes */

enum escape_error {
    ESCAPE_ENDS = -1,     /* error: the text ends after the backslash */
    ESCAPE_UNKNOWN = -2,  /* error: the escape is unknown */
    ESCAPE_DIGITS = -3,   /* error: fewer than four hexadecimal digits after \u */
    ESCAPE_SURROGATE = -4 /* error: half of a surrogate pair */
};

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the number after "\u" at `text`, or -1 if `text` does not begin with such an escape. */
static int32_t unit(const char *text, size_t length)
{
    int32_t code = 0;

    if (length < 6 || text[0] != '\\' || text[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        int digit = hex_digit(text[i]);

        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

/*
 * Decodes the escape that begins with the backslash text[0]; a surrogate pair is one escape.
 * Returns the length of the escape in bytes, or an enum escape_error.
 */
static int escape_decode(const char *text, size_t length, uint32_t *code)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *name;
    int32_t high, low;

    if (length < 2)
        return ESCAPE_ENDS;
    name = memchr(names, text[1], sizeof names - 1);
    if (name) {
        *code = (uint32_t)meanings[name - names];
        return 2;
    }
    if (text[1] != 'u')
        return ESCAPE_UNKNOWN;
    high = unit(text, length);
    if (high < 0)
        return ESCAPE_DIGITS;
    if (high < 0xd800 || high > 0xdfff) {
        *code = (uint32_t)high;
        return 6;
    }
    low = unit(text + 6, length - 6);
    if (high > 0xdbff || low < 0xdc00 || low > 0xdfff)
        return ESCAPE_SURROGATE;
    *code = 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
    return 12;
}

/* The place of a fault: pointer, line and column. */

/* Appends a key of the text to the pointer, and decodes the key's escapes. */
static void append_key(struct pointer *pointer, const char *key, size_t length)
{
    pointer_token(pointer);
    for (size_t i = 0; i < length && !pointer->full;) {
        const char *escape = memchr(key + i, '\\', length - i);
        size_t plain = escape ? (size_t)(escape - (key + i)) : length - i;
        char decoded[UTF8_CHAR_MAX];
        uint32_t code = 0;

        pointer_text(pointer, key + i, plain);
        i += plain;
        if (escape) {
            i += (size_t)escape_decode(escape, length - i, &code);
            pointer_text(pointer, decoded, utf8_encode(code, decoded));
        }
    }
}

static void write_pointer(const struct scan *scan, char *out, size_t size)
{
    struct pointer pointer;

    pointer_init(&pointer, out, size);
    for (size_t i = 0; i < scan->depth; i++) {
        const struct level *level = &scan->levels[i];

        if (!level->within)
            break;
        if (level->object)
            append_key(&pointer, level->key, level->key_length);
        else
            pointer_index(&pointer, level->index);
    }
}

/* Sets line and column of the fault. Counts columns in characters, like editors. */
static void write_place(const struct scan *scan, size_t at)
{
    unsigned line = 1, column = 1;

    for (size_t i = 0; i < at; i++) {
        if (scan->text[i] == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)scan->text[i] & 0xc0) != 0x80) {
            column++;
        }
    }
    scan->fault->line = line;
    scan->fault->column = column;
}

__attribute__((format(printf, 4, 5))) static int fail(const struct scan *scan, size_t at,
                                                      enum fault_code code, const char *format, ...)
{
    char pointer[FAULT_POINTER_MAX], text[FAULT_TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    write_pointer(scan, pointer, sizeof pointer);
    fault_set(scan->fault, code, pointer, "%s", text);
    write_place(scan, at);
    return -1;
}

/* Fails with "<expected> is expected, not <the next character>". */
static int fail_expected(const struct scan *scan, const char *expected)
{
    size_t left = scan->length - scan->at, size;
    const char *text;

    if (left == 0)
        return fail(scan, scan->at, FAULT_PARSE_ERROR, "the text ends where %s is expected",
                    expected);
    text = scan->text + scan->at;
    size = utf8_char(text, left);
    if (size == 0 || (unsigned char)*text < 0x20 || *text == 0x7f)
        return fail(scan, scan->at, FAULT_PARSE_ERROR, "%s is expected, not byte 0x%02x", expected,
                    (unsigned)(unsigned char)*text);
    return fail(scan, scan->at, FAULT_PARSE_ERROR, "%s is expected, not '%.*s'", expected,
                (int)size, text);
}

/* Strings */

static int scan_escape(struct scan *scan)
{
    const char *text = scan->text + scan->at;
    uint32_t code = 0;
    int size = escape_decode(text, scan->length - scan->at, &code);

    switch (size) {
    case ESCAPE_ENDS:
        return fail(scan, scan->at, FAULT_PARSE_ERROR, "the text ends within a string");
    case ESCAPE_UNKNOWN:
        return fail(scan, scan->at, FAULT_PARSE_ERROR,
                    "a backslash must be followed by one of \" \\ / b f n r t u");
    case ESCAPE_DIGITS:
        return fail(scan, scan->at, FAULT_PARSE_ERROR,
                    "\\u must be followed by four hexadecimal digits");
    case ESCAPE_SURROGATE:
        return fail(scan, scan->at, FAULT_PARSE_ERROR, "%.6s is half of a surrogate pair", text);
    default:
        break;
    }
    if (code == 0)
        return fail(scan, scan->at, FAULT_PARSE_ERROR, "\\u0000 is not accepted in a string");
    scan->at += (size_t)size;
    return 0;
}

/* Consumes an escape or a character beyond ASCII in a string. Refuses a control character. */
static int scan_char(struct scan *scan)
{
    const char *text = scan->text + scan->at;
    size_t size;

    if (*text == '\\')
        return scan_escape(scan);
    if ((unsigned char)*text < 0x20)
        return fail(scan, scan->at, FAULT_PARSE_ERROR,
                    "control character 0x%02x in a string must be written as an escape",
                    (unsigned)*text);
    size = utf8_char(text, scan->length - scan->at);
    if (size == 0)
        return fail(scan, scan->at, FAULT_PARSE_ERROR, "byte 0x%02x is not valid UTF-8",
                    (unsigned)(unsigned char)*text);
    scan->at += size;
    return 0;
}

/* Consumes a string with its quotes. */
static int scan_string(struct scan *scan)
{
    const size_t begin = scan->at, length = scan->length;
    const char *text = scan->text;

    for (size_t at = begin + 1;; at = scan->at) {
        at += utf8_plain(text + at, length - at);
        if (at == length)
            return fail(scan, begin, FAULT_PARSE_ERROR, "the string that begins here does not end");
        scan->at = at + 1;
        if (text[at] == '"')
            return 0;
        scan->at = at;
        if (scan_char(scan) < 0)
            return -1;
    }
}

/* Numbers and literals. */

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
           c == '-' || c == '.' || c == '_';
}

/* Returns whether a word is a number with fraction or exponent, which has its own error message. */
static bool is_real(const char *word, size_t length)
{
    size_t i = word[0] == '-', digits = 0;

    for (; i < length && word[i] >= '0' && word[i] <= '9'; i++)
        digits++;
    return digits > 0 && i < length && (word[i] == '.' || word[i] == 'e' || word[i] == 'E');
}

enum { DIGITS_MAX = 16, SHOWN_MAX = 40 };

/* Returns whether a word is an integer within the accepted range. */
static bool is_integer(const char *word, size_t length)
{
    const size_t first = word[0] == '-';
    uint64_t value = 0;

    if (length == first || length - first > DIGITS_MAX ||
        (word[first] == '0' && length - first > 1))
        return false;
    for (size_t i = first; i < length; i++) {
        if (word[i] < '0' || word[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(word[i] - '0');
    }
    return value < UINT64_C(1) << 53;
}

/* Fails with the reason why a word is not an accepted integer. */
static int fail_number(const struct scan *scan, const char *word, size_t length)
{
    const size_t first = word[0] == '-';
    int shown = length < SHOWN_MAX ? (int)length : SHOWN_MAX;

    if (is_real(word, length))
        return fail(scan, scan->at, FAULT_PARSE_ERROR,
                    "%.*s: a whole number is required, without fraction or exponent", shown, word);
    for (size_t i = first; i < length; i++) {
        if (word[i] < '0' || word[i] > '9')
            return fail(scan, scan->at, FAULT_PARSE_ERROR, "%.*s is not a number", shown, word);
    }
    if (length == first)
        return fail(scan, scan->at, FAULT_PARSE_ERROR, "'-' must be followed by a digit");
    if (word[first] == '0')
        return fail(scan, scan->at, FAULT_PARSE_ERROR, "%.*s: a number does not begin with 0",
                    shown, word);
    return fail(scan, scan->at, FAULT_PARSE_ERROR,
                "%.*s: whole numbers from -(2^53 - 1) to 2^53 - 1 are accepted", shown, word);
}

static bool is_literal(const char *word, size_t length)
{
    static const char *const literals[] = {"true", "false", "null"};

    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++) {
        if (length == strlen(literals[i]) && memcmp(word, literals[i], length) == 0)
            return true;
    }
    return false;
}

static int scan_word(struct scan *scan)
{
    const char *word = scan->text + scan->at;
    size_t length = 0;

    while (scan->at + length < scan->length && is_word(word[length]))
        length++;
    if (length == 0)
        return fail_expected(scan, "a value");
    if (*word == '-' || (*word >= '0' && *word <= '9')) {
        if (!scan->limits->any_number && !is_integer(word, length))
            return fail_number(scan, word, length);
    } else if (!is_literal(word, length)) {
        return fail(scan, scan->at, FAULT_PARSE_ERROR,
                    "%.*s is not a value: a number, a string, true, false, null, an array or "
                    "an object is expected",
                    length < SHOWN_MAX ? (int)length : SHOWN_MAX, word);
    }
    scan->at += length;
    return 0;
}

/* Structure. */

/* Returns the position after the white space at scan->at. */
static size_t after_space(const struct scan *scan)
{
    const char *text = scan->text;
    const size_t length = scan->length;
    size_t at = scan->at;

    while (at < length &&
           (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r'))
        at++;
    return at;
}

/* Consumes white space, and then `c` if it is the next byte. */
static bool accept(struct scan *scan, char c)
{
    const size_t at = after_space(scan);
    const bool found = at < scan->length && scan->text[at] == c;

    scan->at = at + found;
    return found;
}

static int scan_key(struct scan *scan, struct level *level)
{
    size_t begin;

    scan->at = after_space(scan);
    if (scan->at == scan->length || scan->text[scan->at] != '"')
        return fail_expected(scan, "a member's name in double quotes");
    begin = scan->at + 1;
    if (scan_string(scan) < 0)
        return -1;
    level->key = scan->text + begin;
    level->key_length = scan->at - begin - 1;
    level->within = true;
    return accept(scan, ':') ? 0 : fail_expected(scan, "':'");
}

/* NEXT_VALUE: a value must follow. NEXT_DONE: a value has ended. */
enum next { NEXT_FAULT = -1, NEXT_VALUE, NEXT_DONE };

static enum next open_container(struct scan *scan, bool object)
{
    struct level *level;

    if (scan->depth >= scan->limits->depth || scan->depth >= JSON_DEPTH_MAX)
        return fail(scan, scan->at, FAULT_LIMIT,
                    "arrays and objects are nested more than %zu deep here", scan->depth);
    scan->at++;
    level = &scan->levels[scan->depth++];
    *level = (struct level){.object = object};
    if (accept(scan, object ? '}' : ']')) {
        scan->depth--;
        return NEXT_DONE;
    }
    level->within = !object;
    return object && scan_key(scan, level) < 0 ? NEXT_FAULT : NEXT_VALUE;
}

static enum next scan_value(struct scan *scan)
{
    char c;

    scan->at = after_space(scan);
    if (scan->at == scan->length)
        return fail_expected(scan, "a value");
    if (scan->values++ >= scan->limits->values)
        return fail(scan, scan->at, FAULT_LIMIT, "more than %zu values", scan->limits->values);
    c = scan->text[scan->at];
    if (c == '{' || c == '[')
        return open_container(scan, c == '{');
    return (c == '"' ? scan_string(scan) : scan_word(scan)) < 0 ? NEXT_FAULT : NEXT_DONE;
}

/* Consumes closing brackets after a value, up to the next value or the end of the root. */
static enum next scan_after(struct scan *scan)
{
    while (scan->depth > 0) {
        struct level *level = &scan->levels[scan->depth - 1];

        level->within = false;
        if (accept(scan, ',')) {
            level->index++;
            if (level->object)
                return scan_key(scan, level) < 0 ? NEXT_FAULT : NEXT_VALUE;
            level->within = true;
            return NEXT_VALUE;
        }
        if (!accept(scan, level->object ? '}' : ']'))
            return fail_expected(scan, level->object ? "',' or '}'" : "',' or ']'");
        scan->depth--;
    }
    return NEXT_DONE;
}

int json_check(const char *text, size_t length, const struct json_limits *limits,
               struct fault *fault)
{
    struct scan scan; /* levels are not initialised: only levels[0 .. depth) are read */
    enum next next;

    scan.text = text;
    scan.length = length;
    scan.limits = limits;
    scan.fault = fault;
    scan.at = scan.values = scan.depth = 0;

    if (length > limits->bytes)
        return fail(&scan, 0, FAULT_LIMIT, "the text has %zu bytes; at most %zu are accepted",
                    length, limits->bytes);
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        return fail(&scan, 0, FAULT_PARSE_ERROR, "the text must not begin with a byte order mark");
    do {
        next = scan_value(&scan);

        if (next == NEXT_DONE)
            next = scan_after(&scan);
    } while (next == NEXT_VALUE);
    if (next == NEXT_FAULT)
        return -1;
    scan.at = after_space(&scan);
    if (scan.at < length)
        return fail_expected(&scan, "the end of the text");
    return 0;
}
