/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Building an RFC 6901 JSON pointer in a fixed buffer. What does not fit is cut, never in the
 * middle of a character or of an escape. Private to proto/.
 */
#ifndef PROTO_POINTER_H
#define PROTO_POINTER_H

#include <stdbool.h>
#include <stddef.h>

struct pointer {
    char *out; /* zero-terminated at any time */
    size_t size, length;
    bool full;
};

/** Begins with the root's pointer, the empty string. `size` is at least 1. */
void pointer_init(struct pointer *pointer, char *out, size_t size);
/** Begins a token; its text follows by pointer_text(), in one or many calls. */
void pointer_token(struct pointer *pointer);
/** Whole characters of the token that was begun; '~' and '/' are escaped here. */
void pointer_text(struct pointer *pointer, const char *text, size_t length);
/** A token that is an array's index. */
void pointer_index(struct pointer *pointer, size_t index);

#endif /* PROTO_POINTER_H */
