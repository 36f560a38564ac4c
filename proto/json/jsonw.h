/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing JSON text, one value after the other, into a growing buffer. `key` is the member's name
 * inside an object and null inside an array or at the root; it is one of the program's own words,
 * which need no escapes (jsonw_key() is for others). Commas, quotes and escapes are the
 * writer's business. A failed allocation is remembered in `failed` and every later call does
 * nothing, so that only the end needs a check.
 */
#ifndef PROTO_JSONW_H
#define PROTO_JSONW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jsonw {
    char *data; /* not terminated until jsonw_text() */
    size_t length, capacity;
    bool failed;
    bool comma; /* the next value needs one before it */
    /* For files that people read; else all is on one line without a space. */
    uint8_t lines; /* values in so many levels have a line for each */
    uint8_t depth; /* of objects and arrays, counted where `lines` is not 0 */
    bool named;    /* a name was written, its value comes */
};

void jsonw_init(struct jsonw *w);
/** Text for people: each value of the outermost `lines` levels on a line of its own; 0: none. */
void jsonw_init_lines(struct jsonw *w, uint8_t lines);
void jsonw_finish(struct jsonw *w);
/** Forgets the text, keeps the memory. */
void jsonw_reset(struct jsonw *w);
/** The text so far, zero-terminated, owned by the writer; null where an allocation failed. */
const char *jsonw_text(struct jsonw *w);

/** Any text as the name of the value that is written next, with a null key. */
void jsonw_key(struct jsonw *w, const char *text);
void jsonw_object_begin(struct jsonw *w, const char *key);
void jsonw_object_end(struct jsonw *w);
void jsonw_array_begin(struct jsonw *w, const char *key);
void jsonw_array_end(struct jsonw *w);
/*
 * Numbers beyond +-(2^53 - 1) are written as that bound: no reader of the protocol takes more, and
 * a counter that stands still is better than a reply that cannot be read.
 */
void jsonw_int(struct jsonw *w, const char *key, int64_t value);
void jsonw_uint(struct jsonw *w, const char *key, uint64_t value);
void jsonw_bool(struct jsonw *w, const char *key, bool value);
void jsonw_null(struct jsonw *w, const char *key);
/** Bytes that are not UTF-8 are written as U+FFFD. */
void jsonw_string(struct jsonw *w, const char *key, const char *text);
/** A value that was written as JSON before. */
void jsonw_raw(struct jsonw *w, const char *key, const char *json);
/** The newline that ends a message. */
void jsonw_newline(struct jsonw *w);

#endif /* PROTO_JSONW_H */
