/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of settings: small regular files with JSON, read whole. */
#ifndef PROTO_JSON_FILE_H
#define PROTO_JSON_FILE_H

#include <stddef.h>

#include "proto/json/fault.h"

/**
 * Reads a regular file of at most `max` bytes. Returns 0 with *text to be passed to free(), or -1
 * with *fault filled; its text does not name the file. Reads one byte more than `max` of a larger
 * file, so that the parser refuses it with its own message.
 */
int json_file_read(const char *path, size_t max, char **text, size_t *length, struct fault *fault);

/** Puts "PATH:LINE:COLUMN: ", or "PATH: " without a line, before the fault's text. */
void json_file_name(struct fault *fault, const char *path);

#endif /* PROTO_JSON_FILE_H */
