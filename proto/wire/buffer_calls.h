/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters and results of buffer.*; conventions as in job_calls.h. */
#ifndef PROTO_BUFFER_CALLS_H
#define PROTO_BUFFER_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"

enum buffer_access { BUFFER_ACCESS_DEFAULT, BUFFER_ACCESS_READ, BUFFER_ACCESS_WRITE };

/* buffer.register; its fd is the line's only one */
struct buffer_register {
    bool has_size;
    uint64_t size;
    enum buffer_access access;
};
/** `fds` is the line's count: the member "fd" must be an index below it. */
int buffer_register_read(const struct json *params, uint32_t fds, struct buffer_register *call);
void buffer_register_write(struct jsonw *w, const struct buffer_register *call);

/** buffer.alloc: the one member "size", from 1. */
int buffer_alloc_read(const struct json *params, uint64_t *size);

struct buffer_info {
    uint32_t buffer; /* from 1 */
    uint64_t size;
    enum buffer_access access; /* READ or WRITE */
    bool sealed;
    /* in lists only: */
    bool allocated; /* "kind" */
    uint32_t jobs, prepared;
};
/** The members of the result of buffer.register and buffer.alloc. */
void buffer_info_write_members(struct jsonw *w, const struct buffer_info *info);
/** An item of a list. */
void buffer_info_write_item(struct jsonw *w, const struct buffer_info *info);
/** Reads either. Returns 0 or -1 (fault); unknown members are skipped. */
int buffer_info_read(const struct json *value, struct buffer_info *info);

#endif /* PROTO_BUFFER_CALLS_H */
