/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/json_tree.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json/json.h"
#include "proto/json/utf8.h"

/* Escapes */

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

int escape_decode(const char *text, size_t length, uint32_t *code)
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

/* From text to nodes. */

/*
 * json_scan() has accepted the text, so the functions below do not check it again. Only the last
 * digit of a number can be the last byte of a text: all others may read one byte on.
 */
struct builder {
    const char *at, *end;   /* position in the text, and end of the text */
    struct json_node *node; /* the next unused node */
    char *bytes;            /* memory for the next string */
};

static void skip_space(struct builder *b)
{
    while (*b->at == ' ' || *b->at == '\n' || *b->at == '\t' || *b->at == '\r')
        b->at++;
}

/* Consumes `c` after white space, if it is the next byte. */
static bool accept(struct builder *b, char c)
{
    skip_space(b);
    if (*b->at != c)
        return false;
    b->at++;
    return true;
}

/* Consumes a string with its quotes; returns its decoded copy. */
static const char *build_string(struct builder *b)
{
    char *out = b->bytes;
    const char *string = out;

    b->at++;
    while (*b->at != '"') {
        if (*b->at == '\\') {
            char decoded[UTF8_CHAR_MAX];
            uint32_t code = 0;
            size_t size;

            b->at += escape_decode(b->at, (size_t)(b->end - b->at), &code);
            size = utf8_encode(code, decoded);
            memcpy(out, decoded, size);
            out += size;
        } else {
            *out++ = *b->at++;
        }
    }
    b->at++;
    *out++ = '\0';
    b->bytes = out;
    return string;
}

static int64_t build_number(struct builder *b)
{
    bool negative = *b->at == '-';
    int64_t number = 0;

    b->at += negative;
    for (; b->at < b->end && *b->at >= '0' && *b->at <= '9'; b->at++)
        number = number * 10 + (*b->at - '0');
    return negative ? -number : number;
}

static struct json_node *build_value(struct builder *b);

/* Consumes an array or object from its opening to its closing bracket. */
static void build_container(struct builder *b, struct json_node *container)
{
    bool object = container->kind == JSON_OBJECT;
    const struct json_node **link = &container->child;

    b->at++;
    container->child = NULL;
    if (accept(b, object ? '}' : ']'))
        return;
    do {
        struct json_node *node;
        const char *key = NULL;

        if (object) {
            skip_space(b);
            key = build_string(b);
            accept(b, ':');
        }
        node = build_value(b);
        node->key = key;
        *link = node;
        link = &node->next;
        container->count++;
    } while (accept(b, ','));
    accept(b, object ? '}' : ']');
}

/* Recurses once for each level of nesting; json_scan() limits the depth. */
static struct json_node *build_value(struct builder *b)
{
    struct json_node *node = b->node++;

    skip_space(b);
    node->next = NULL;
    node->key = NULL;
    node->count = 0;
    switch (*b->at) {
    case '{':
    case '[':
        node->kind = *b->at == '{' ? JSON_OBJECT : JSON_ARRAY;
        build_container(b, node);
        break;
    case '"':
        node->kind = JSON_STRING;
        node->string = build_string(b);
        break;
    case 'n':
    case 't':
        node->kind = *b->at == 'n' ? JSON_NULL : JSON_TRUE;
        b->at += strlen("null");
        break;
    case 'f':
        node->kind = JSON_FALSE;
        b->at += strlen("false");
        break;
    default:
        node->kind = JSON_NUMBER;
        node->number = build_number(b);
    }
    return node;
}

struct json_node *json_tree_create(const char *text, size_t length, size_t values)
{
    /* Strings need at most `length` bytes: decoding shortens escapes, and the terminating zero
     * takes less than the two quotes. */
    struct json_node *nodes;
    struct builder b = {.at = text, .end = text + length};

    if (values > (SIZE_MAX - length) / sizeof *nodes)
        return NULL;
    nodes = malloc(values * sizeof *nodes + length);
    if (!nodes)
        return NULL;
    b.node = nodes;
    b.bytes = (char *)(nodes + values);
    return build_value(&b);
}

/* From nodes to text. */

/* jsonw_key() escapes the key, which may contain any character. */
static void write_member(struct jsonw *w, const struct json *member)
{
    jsonw_key(w, member->key);
    json_write(w, NULL, member);
}

/* Recurses once for each level of nesting; json_scan() limits the depth. */
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
