/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts from outside, which may be any bytes, into a form that has its own rules. */
#ifndef CLI_ESCAPED_H
#define CLI_ESCAPED_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/json/textw.h"

enum { ESCAPED_MAX = 16 };
#define ESCAPED_BAD 0xfffdU /* U+FFFD, which also stands for bytes that are no UTF-8 */

/** What is written for a character: null where it is itself; may use `out`. */
typedef const char *(*escaped_rule)(uint32_t code, char out[ESCAPED_MAX]);

/** Writes a text by a rule. */
void escaped_write(struct textw *w, const char *text, escaped_rule rule);

/** Characters that act on a terminal, or are none at all: U+0000 to U+001F, U+007F to U+009F. */
bool escaped_is_control(uint32_t code);

/** The rule of terminals and logs: control characters are '?', on one line. */
const char *escaped_plain(uint32_t code, char out[ESCAPED_MAX]);

#endif /* CLI_ESCAPED_H */
