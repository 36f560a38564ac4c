/* SPDX-License-Identifier: BSD-3-Clause */
/* UTF-8, strictly: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
#ifndef PROTO_UTF8_H
#define PROTO_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum { UTF8_CHAR_MAX = 4 };

/** Bytes (1 .. 4) of the character that text begins with; 0 where it begins with none. */
size_t utf8_char(const char *text, size_t length);

/** The most bytes, at most `length`, that do not end within a character. */
size_t utf8_cut(const char *text, size_t length);

/** The character of `size` bytes that utf8_char() has found at `text`. */
uint32_t utf8_decode(const char *text, size_t size);

/** Writes a character and returns its bytes. `code` is a Unicode scalar value. */
size_t utf8_encode(uint32_t code, char out[UTF8_CHAR_MAX]);

/**
 * Makes a text that comes from elsewhere fit for a line on a terminal, whatever it holds: what is
 * no printable character becomes '?'. Its length stays.
 */
void utf8_disarm(char *text);

#endif /* PROTO_UTF8_H */
