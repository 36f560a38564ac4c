/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two most frequent lines, without a JSON parser or writer: a start of a prepared job without
 * options, and its reply exactly as mlid writes it. Programs send hundreds of thousands per second.
 * All other lines use the parser and writer of proto.
 */
#ifndef CLIENT_QUICK_H
#define CLIENT_QUICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_client.h"

enum { QUICK_START_MAX = 256 };

/** Writes a job.start that has only `prepared`, `src` and `dst`. Returns the length of the line. */
size_t quick_write_start(char text[QUICK_START_MAX], uint64_t id,
                         const mli_client_start_args *args);

/** Reads the reply to a start. Returns false, with *result undefined, for another line. */
bool quick_read_result(const char *line, size_t length, uint64_t *id, mli_client_result *result);

#endif /* CLIENT_QUICK_H */
