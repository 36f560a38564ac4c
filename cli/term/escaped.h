/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of any bytes (names, messages), escaped by the rules of an output format. */
#ifndef CLI_ESCAPED_H
#define CLI_ESCAPED_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/json/textw.h"

enum { ESCAPED_MAX = 16 };
#define ESCAPED_BAD 0xfffdU /* U+FFFD, the code of bytes that are not UTF-8 */

/**
 * Returns the replacement of a character, in static storage or in `out`, or null to write the
 * character unchanged.
 */
typedef const char *(*escaped_rule)(uint32_t code, char out[ESCAPED_MAX]);

/** Writes a text, with the characters that the rule replaces. */
void escaped_write(struct textw *w, const char *text, escaped_rule rule);

/** Returns whether a character is a control character: U+0000 to U+001F, U+007F to U+009F. */
bool escaped_is_control(uint32_t code);

/** The rule of terminals and logs: control characters, also newlines, become '?'. */
const char *escaped_plain(uint32_t code, char out[ESCAPED_MAX]);

#endif /* CLI_ESCAPED_H */
