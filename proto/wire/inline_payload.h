/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The member "inline" of requests and replies: bytes in place of descriptors, for streams that
 * cannot carry descriptors ("Inline payload" in PROTOCOL.md). The caller transfers the bytes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/json/json.h"
#include "proto/wire/wire_limits.h"

/* The largest sum of the sizes of one request, in bytes. */
#define INLINE_BYTES_MAX (UINT64_C(1) << 30)

struct inline_item {
    uint64_t bytes; /* number of bytes after the line */
    uint64_t size;  /* size of the memfd that replaces the descriptor, in bytes */
    bool back;      /* true: the reply returns the contents of the memfd */
};

struct inline_payload {
    struct inline_item items[PROTO_FDS_MAX];
    uint32_t count;
};

/** Reads the member "inline" of a request; the count is 0 if the member is absent. Returns 0 or -1
 * (fault). */
int inline_payload_read(const struct json *value, struct inline_payload *payload);

/** Reads the member "inline" of a reply, which has only `bytes` of each item. Sets `size` to the
 * same number. */
int inline_reply_read(const struct json *value, struct inline_payload *payload);
