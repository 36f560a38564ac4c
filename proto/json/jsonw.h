/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writers of text and of JSON into growing buffers. A failed allocation sets `failed`, and later
 * calls do nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct textw {
    char *data; /* the text, zero-terminated; null until the first write */
    size_t length, capacity;
    bool failed;
};

void textw_init(struct textw *w);
void textw_finish(struct textw *w);
void textw_reset(struct textw *w);
void textw_printf(struct textw *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Writes JSON one value after the other, with commas, quotes and escapes. `key` is the member's
 * name inside an object, and null inside an array or at the root. A key is written without escapes;
 * use jsonw_key() for a key that may need them. Callers check only the result of jsonw_text().
 */
struct jsonw {
    char *data; /* the text; not terminated until jsonw_text() */
    size_t length, capacity;
    bool failed;
    bool comma; /* true: the next value needs a comma before it */
    /* For text that people read; if `lines` is 0, the text is one line without spaces: */
    uint8_t lines; /* number of levels of nesting that have a line for each value */
    uint8_t depth; /* current level of nesting; counted only if `lines` is not 0 */
    bool named;    /* true: jsonw_key() has written a key, and its value follows */
};

void jsonw_init(struct jsonw *w);
/** Initialises the writer and begins an object, the root. */
void jsonw_init_object(struct jsonw *w);
/** Initialises a writer for people: each value of the outermost `lines` levels has its own line. */
void jsonw_init_lines(struct jsonw *w, uint8_t lines);
void jsonw_finish(struct jsonw *w);
/** Discards the text, but keeps the memory. */
void jsonw_reset(struct jsonw *w);
/** Returns the text so far, zero-terminated and owned by the writer; null if `failed`. */
const char *jsonw_text(struct jsonw *w);

/** Writes any text as the key of the next value. Pass a null key when writing that value. */
void jsonw_key(struct jsonw *w, const char *text);
void jsonw_object_begin(struct jsonw *w, const char *key);
void jsonw_object_end(struct jsonw *w);
void jsonw_array_begin(struct jsonw *w, const char *key);
void jsonw_array_end(struct jsonw *w);
/*
 * Numbers beyond +-(2^53 - 1) are written as that bound: readers of the protocol accept no larger
 * number, and a counter that stops is better than an unreadable reply.
 */
void jsonw_int(struct jsonw *w, const char *key, int64_t value);
void jsonw_uint(struct jsonw *w, const char *key, uint64_t value);
void jsonw_bool(struct jsonw *w, const char *key, bool value);
void jsonw_null(struct jsonw *w, const char *key);
/** Writes a string; writes bytes that are not UTF-8 as U+FFFD. */
void jsonw_string(struct jsonw *w, const char *key, const char *text);
/** Writes a value that is JSON text already. */
void jsonw_raw(struct jsonw *w, const char *key, const char *json);
/** Writes the newline that ends a line. */
void jsonw_newline(struct jsonw *w);
