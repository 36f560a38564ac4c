/* SPDX-License-Identifier: BSD-3-Clause */
/* One member of a JSON object's text, taken out. */
#ifndef CLI_PROXY_CUT_H
#define CLI_PROXY_CUT_H

#include <stddef.h>

/**
 * Copies the text of an object that is valid JSON to `out` (as long as the text) without its
 * members `key`, which is plain ASCII. Returns the length of the copy.
 */
size_t cut_member(const char *text, size_t length, const char *key, char *out);

#endif /* CLI_PROXY_CUT_H */
