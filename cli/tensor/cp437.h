/* SPDX-License-Identifier: BSD-3-Clause */
/* Names in zip archives: UTF-8, or else code page 437, the character set of the IBM PC. */
#ifndef CLI_CP437_H
#define CLI_CP437_H

#include <stddef.h>

/**
 * Returns the name of `size` bytes, up to its first NUL, as UTF-8 for free(): as it is, or as code
 * page 437 if it is not UTF-8. Control characters stay what they are. Null: out of memory.
 */
char *cp437_or_utf8(const char *name, size_t size);

#endif /* CLI_CP437_H */
