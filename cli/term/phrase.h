/* SPDX-License-Identifier: BSD-3-Clause */
/* A text in a fixed buffer that grows at its end. A text that does not fit is cut. */
#pragma once

#include <stddef.h>

struct phrase {
    char *text;
    size_t size, length;
};

/** Returns an empty phrase in `text`, a buffer of `size` bytes, which becomes "". */
struct phrase phrase_init(char *text, size_t size);
void phrase_add(struct phrase *phrase, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
