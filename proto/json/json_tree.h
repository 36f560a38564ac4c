/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of a parsed text. One block of memory holds all nodes and strings of a text: prescan()
 * has counted the values, and no string is longer than its text. Private to json*.c.
 */
#ifndef PROTO_JSON_TREE_H
#define PROTO_JSON_TREE_H

#include <stddef.h>
#include <stdint.h>

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
    const struct json_node *next; /* the next element or member of the container; or null */
    const char *key;              /* of a member; null in an array */
    union {
        const struct json_node *child; /* the first element or member; or null */
        const char *string;            /* decoded, ends with a zero byte */
        int64_t number;
    };
    enum json_kind kind;
    uint32_t count; /* elements or members of a container */
};

/**
 * Builds the tree of a text that prescan_count() has accepted, with the number of values that it
 * has counted. Returns the root, which the caller passes to free(); null: out of memory.
 */
struct json_node *json_tree_create(const char *text, size_t length, size_t values);

#endif /* PROTO_JSON_TREE_H */
