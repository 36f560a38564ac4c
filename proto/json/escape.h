/* SPDX-License-Identifier: BSD-3-Clause */
/* Escapes in JSON strings. Private to proto/. */
#ifndef PROTO_ESCAPE_H
#define PROTO_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

enum escape_error {
    ESCAPE_ENDS = -1,     /* the text ends after the backslash */
    ESCAPE_UNKNOWN = -2,  /* no such escape */
    ESCAPE_DIGITS = -3,   /* not four hexadecimal digits after \u */
    ESCAPE_SURROGATE = -4 /* half of a surrogate pair */
};

/**
 * Decodes the escape that begins with the backslash at text[0]; a surrogate pair is one escape.
 * Returns the bytes it takes, or an enum escape_error.
 */
int escape_decode(const char *text, size_t length, uint32_t *code);

#endif /* PROTO_ESCAPE_H */
