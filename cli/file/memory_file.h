/* SPDX-License-Identifier: BSD-3-Clause */
/* Files in memory (memfds), for copies of tensors that cannot be moved where they are. */
#ifndef CLI_MEMORY_FILE_H
#define CLI_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/term/print.h"
#include "proto/json/fault.h"

/**
 * Returns whether a copy of `size` bytes takes at most half of the memory: a larger one would
 * starve other programs. Writes this half as text.
 */
bool memory_file_fits(uint64_t size, char half[PRINT_TEXT_MAX]);

/** Creates an empty file that can be sealed. Returns a descriptor, or -1 with the fault. */
int memory_file_create(struct fault *fault);

/** Appends bytes to the file. Returns 0, or -1 with the fault. */
int memory_file_write(int fd, const void *bytes, size_t size, struct fault *fault);

#endif /* CLI_MEMORY_FILE_H */
