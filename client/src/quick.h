/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two lines that come and go by the hundred thousand each second, without a JSON library: a
 * plain start, and the answer to it in exactly the form in which the service writes it. Whatever
 * looks otherwise takes the ordinary way.
 */
#ifndef CLIENT_QUICK_H
#define CLIENT_QUICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_client.h"

enum { QUICK_START_MAX = 256 };

/** A job.start with other memory but nothing else. Returns the line's length. */
size_t quick_write_start(char text[QUICK_START_MAX], uint64_t id,
                         const mli_client_start_args *args);

/** The answer to one. False: it is something else, and *result is worth nothing. */
bool quick_read_result(const char *line, size_t length, uint64_t *id, mli_client_result *result);

#endif /* CLIENT_QUICK_H */
