/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole text of a file. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/json/fault.h"

struct text {
    char *bytes; /* not terminated */
    size_t length, capacity;
};

/**
 * Reads to the end; more than `max` bytes are refused. A fifo or terminal is waited for, not past a
 * cancel. *text is empty before. Returns 0 or -1 (no pointer in the fault); text_finish() is legal
 * after both.
 */
int text_read(struct text *text, int fd, size_t max, struct fault *fault);

/** The same of a file by its name; `regular`: of no other kind of file. */
int text_load(struct text *text, const char *path, size_t max, bool regular, struct fault *fault);

void text_finish(struct text *text);

#endif /* CLI_TEXT_H */
