/* SPDX-License-Identifier: BSD-3-Clause */
/* Strict UTF-8: no overlong forms, no surrogates, no codes above U+10FFFF. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UTF8_CHAR_MAX = 4 };

/** Returns the length (1 .. 4) of the character at `text` in bytes, or 0 if it is invalid. */
size_t utf8_char(const char *text, size_t length);

/** Returns whether a text of `length` bytes is UTF-8. */
bool utf8_is_valid(const char *text, size_t length);

/** Returns the number of bytes before the first byte that JSON escapes or that is not ASCII. */
size_t utf8_plain(const char *text, size_t length);

/** Returns the largest number of bytes, at most `length`, that does not cut a character. */
size_t utf8_cut(const char *text, size_t length);

/** Decodes the character of `size` bytes that utf8_char() has found at `text`. */
uint32_t utf8_decode(const char *text, size_t size);

/** Encodes a Unicode scalar value. Returns the number of bytes written. */
size_t utf8_encode(uint32_t code, char out[UTF8_CHAR_MAX]);

/** Returns whether a character is invisible and can change how its neighbours are shown: separators
 * of lines, and format characters, such as those that change the direction. */
bool utf8_is_format(uint32_t code);

/**
 * Replaces control characters, format characters, and invalid bytes with '?', so that a terminal
 * shows the text as one line. The length of the text stays the same.
 */
void utf8_disarm(char *text);
