/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second reader of JSON, which shares no code with proto/json, so that tests can compare the two.
 * It accepts exactly what RFC 8259 allows, in valid UTF-8.
 */
#ifndef TEST_PLAIN_JSON_H
#define TEST_PLAIN_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum plain_kind {
    PLAIN_NULL,
    PLAIN_FALSE,
    PLAIN_TRUE,
    PLAIN_NUMBER,
    PLAIN_STRING,
    PLAIN_ARRAY,
    PLAIN_OBJECT
};

struct plain {
    enum plain_kind kind;
    double number;
    char *string; /* decoded, zero-terminated; null unless kind is PLAIN_STRING */
    char *key;    /* name of a member, decoded; null if the value is not a member of an object */
    struct plain *child; /* the first element or member */
    struct plain *next;  /* the next element or member of the container */
};

/**
 * Returns the value of a text, which the caller passes to plain_free(), or null if the text is not
 * JSON or is nested more than 1000 deep. Sets *beyond if the text has what proto/json refuses: a
 * number that is no integer from -(2^53 - 1) to 2^53 - 1, or "\u0000" in a string.
 */
struct plain *plain_read(const char *text, size_t length, bool *beyond);
void plain_free(struct plain *value);

/** Returns the first member `key` of an object, or null. */
const struct plain *plain_member(const struct plain *object, const char *key);

#endif /* TEST_PLAIN_JSON_H */
