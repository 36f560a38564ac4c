/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a whole file into memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/json/fault.h"

struct text {
    char *bytes; /* the bytes, not terminated */
    size_t length, capacity;
};

/**
 * Reads a descriptor to its end into the empty *text. Refuses more than `max` bytes. Waits for a
 * fifo or terminal until a cancel. Returns 0, or -1 with a fault without pointer; call
 * text_finish() in both cases.
 */
int text_read(struct text *text, int fd, size_t max, struct fault *fault);

/** Like text_read(), for a path. With `regular`, refuses other kinds of files. */
int text_load(struct text *text, const char *path, size_t max, bool regular, struct fault *fault);

void text_finish(struct text *text);
