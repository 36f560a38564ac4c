/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes in place of descriptors, for streams that carry none ("Inline payload" in PROTOCOL.md).
 * These functions know the member "inline" only; bytes are their caller's business.
 */
#ifndef PROTO_INLINE_PAYLOAD_H
#define PROTO_INLINE_PAYLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/wire_limits.h"

#define INLINE_BYTES_MAX (UINT64_C(1) << 30) /* of one request: the sum of its sizes */

struct inline_item {
    uint64_t bytes; /* that follow */
    uint64_t size;  /* of the memfd */
    bool back;
};

struct inline_payload {
    struct inline_item items[PROTO_FDS_MAX];
    uint32_t count;
};

/** Of a request; an absent value has count 0. Returns 0 or -1 (fault). */
int inline_payload_read(const struct json *value, struct inline_payload *payload);
void inline_payload_write(struct jsonw *w, const char *key, const struct inline_payload *payload);

/** Of a reply: `bytes` of each item only. */
int inline_reply_read(const struct json *value, struct inline_payload *payload);
void inline_reply_write(struct jsonw *w, const char *key, const struct inline_payload *payload);

/** Bytes that follow the line. */
uint64_t inline_payload_total(const struct inline_payload *payload);

/*
 * For who stands between such a stream and the socket: the line of a request without its member
 * "inline", that of a reply with one. `root` is the line as json_parse() gave it, an object.
 */
void inline_request_strip(struct jsonw *w, const struct json *root);
void inline_reply_add(struct jsonw *w, const struct json *root,
                      const struct inline_payload *payload);

#endif /* PROTO_INLINE_PAYLOAD_H */
