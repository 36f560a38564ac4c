/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/json_tree.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json/escape.h"
#include "proto/json/utf8.h"

/*
 * The text is valid JSON, so each function below trusts the byte that its caller has seen. Only a
 * number may be the last byte of a text.
 */
struct builder {
    const char *at, *end;   /* in the text */
    struct json_node *node; /* the next unused node */
    char *bytes;            /* where the next string goes */
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

/* From the opening quote to behind the closing one. */
static const char *build_string(struct builder *b)
{
    char *out = b->bytes;
    const char *string = out;

    b->at++;
    while (*b->at != '"') {
        if (*b->at == '\\') {
            char decoded[UTF8_CHAR_MAX];
            uint32_t code;
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

/* From behind the opening bracket to behind the closing one. */
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

/* Recurses for each level of nesting, which prescan() limits. */
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
    /* A string takes two quotes in the text and one zero byte here; an escape never gets longer. */
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
