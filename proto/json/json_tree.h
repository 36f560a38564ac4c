/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of a parsed text. One block of memory holds all nodes and strings: json_scan() has
 * counted the values, and no string is longer than in the text. Private to proto/json.
 */
#ifndef PROTO_JSON_TREE_H
#define PROTO_JSON_TREE_H

#include <stddef.h>
#include <stdint.h>

struct fault;
struct json_limits;

enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

struct json_node {
    const struct json_node *next; /* next element or member of the container; or null */
    const char *key;              /* key of a member; null in an array */
    union {
        const struct json_node *child; /* the first element or member; or null */
        const char *string;            /* the decoded string, which ends with a zero byte */
        int64_t number;
    };
    enum json_kind kind;
    uint32_t count; /* number of elements or members of a container */
};

/** Like json_check(); *values becomes the number of scalars, arrays and objects, without keys. */
int json_scan(const char *text, size_t length, const struct json_limits *limits, size_t *values,
              struct fault *fault);

/**
 * Builds the tree of a text that json_scan() has accepted; `values` is its count. Returns the root,
 * which the caller passes to free(), or null if there is no memory.
 */
struct json_node *json_tree_create(const char *text, size_t length, size_t values);

enum escape_error {
    ESCAPE_ENDS = -1,     /* error: the text ends after the backslash */
    ESCAPE_UNKNOWN = -2,  /* error: the escape is unknown */
    ESCAPE_DIGITS = -3,   /* error: fewer than four hexadecimal digits after \u */
    ESCAPE_SURROGATE = -4 /* error: half of a surrogate pair */
};

/**
 * Decodes the escape that begins with the backslash text[0]; a surrogate pair is one escape.
 * Returns the length of the escape in bytes, or an enum escape_error.
 */
int escape_decode(const char *text, size_t length, uint32_t *code);

#endif /* PROTO_JSON_TREE_H */
