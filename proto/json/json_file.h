/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of settings: small regular files with JSON, read whole. */
#ifndef PROTO_JSON_FILE_H
#define PROTO_JSON_FILE_H

#include <stddef.h>

#include "proto/json/json.h"

/**
 * Reads a regular file of at most `max` bytes. Returns 0 with *text to be passed to free(), or -1
 * with *fault filled; its text does not name the file.
 */
int json_file_read(const char *path, size_t max, char **text, size_t *length, struct fault *fault);

/**
 * Parses the text of a file as json_parse() does. A text beyond the limits is FAULT_INVALID_PARAMS:
 * the file is at fault, not the load of a service.
 */
int json_file_parse(const char *text, size_t length, const struct json_limits *limits,
                    struct json *root, struct fault *fault);

/** Puts "PATH:LINE:COLUMN: ", or "PATH: " without a line, before the fault's text. */
void json_file_name(struct fault *fault, const char *path);

#endif /* PROTO_JSON_FILE_H */
