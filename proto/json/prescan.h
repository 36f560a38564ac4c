/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Validates a text before json_tree.c builds its values: one pass over the bytes, no memory but a
 * bounded stack.
 *
 * Accepts exactly RFC 8259 text in valid UTF-8 whose numbers are integers from -(2^53 - 1) to
 * 2^53 - 1 written without fraction or exponent (nothing in the protocol or in a job file is
 * anything else), without "\u0000" in any string, without trailing bytes after the value but
 * white space, and within the limits. So json_tree.c need not check anything, and an int64_t holds
 * every number. Duplicate keys are found later, by json.c.
 */
#ifndef PROTO_PRESCAN_H
#define PROTO_PRESCAN_H

#include <stddef.h>

#include "proto/json/fault.h"

struct prescan_limits {
    size_t bytes;  /* of text */
    size_t depth;  /* of nested containers, at most PROTO_DEPTH_MAX */
    size_t values; /* scalars, arrays and objects */
};

extern const struct prescan_limits prescan_wire_limits;     /* one request line */
extern const struct prescan_limits prescan_reply_limits;    /* one reply line */
extern const struct prescan_limits prescan_job_file_limits; /* one job file */

/** Returns 0, or -1 with FAULT_PARSE_ERROR (or FAULT_LIMIT), line, column and pointer. */
int prescan(const char *text, size_t length, const struct prescan_limits *limits,
            struct fault *fault);
/** As prescan(); *values becomes the number of scalars, arrays and objects (not of keys). */
int prescan_count(const char *text, size_t length, const struct prescan_limits *limits,
                  size_t *values, struct fault *fault);

#endif /* PROTO_PRESCAN_H */
