/* SPDX-License-Identifier: BSD-3-Clause */
/* Params and results of the methods buffer.*; conventions as in job_calls.h. */
#ifndef PROTO_BUFFER_CALLS_H
#define PROTO_BUFFER_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/job_common.h"

enum buffer_access { BUFFER_ACCESS_DEFAULT, BUFFER_ACCESS_READ, BUFFER_ACCESS_WRITE };

/* The params of buffer.register; the request has one descriptor. */
struct buffer_register {
    bool has_size;
    uint64_t size;
    enum buffer_access access;
};
/**
 * Reads the params of buffer.register. `fds` is the number of the request's descriptors: the member
 * "fd" must be below this number.
 */
int buffer_register_read(const struct json *params, uint32_t fds, struct buffer_register *call);
void buffer_register_write(struct jsonw *w, const struct buffer_register *call);

/* The params of buffer.alloc. */
struct buffer_alloc {
    uint64_t size;                /* at least 1 */
    char memory[MEMORY_NAME_MAX]; /* of the service's target profile; or empty */
    bool has_address;             /* with a memory only; false: the service chooses the address */
    uint64_t address;             /* wanted address of the first byte on the board */
};
int buffer_alloc_read(const struct json *params, struct buffer_alloc *call);
void buffer_alloc_write(struct jsonw *w, const struct buffer_alloc *call);

struct buffer_info {
    uint32_t buffer; /* from 1 */
    uint64_t size;
    enum buffer_access access; /* READ or WRITE */
    bool sealed;
    char memory[MEMORY_NAME_MAX]; /* memory of the board that the buffer is in; or empty */
    uint64_t address;             /* with a memory: address of the first byte on the board */
    /* Members of the items of buffer.list only: */
    bool allocated; /* true: "kind" is "allocated"; false: "registered" */
    uint32_t jobs, prepared;
};
/** Writes the members of the result of buffer.register and buffer.alloc. */
void buffer_info_write_members(struct jsonw *w, const struct buffer_info *info);
/** Writes an item of the result of buffer.list. */
void buffer_info_write_item(struct jsonw *w, const struct buffer_info *info);
/** Reads a result or an item. Returns 0 or -1 (fault); skips unknown members. */
int buffer_info_read(const struct json *value, struct buffer_info *info);

#endif /* PROTO_BUFFER_CALLS_H */
