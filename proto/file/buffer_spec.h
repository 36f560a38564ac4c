/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of a job file: memory that the jobs of the file share, the entries of "buffers". A tensor
 * of a job names its buffer (tensor_spec.h).
 */
#ifndef PROTO_BUFFER_SPEC_H
#define PROTO_BUFFER_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/job_common.h"

struct buffer_spec {
    char *name;
    uint64_t bytes;               /* at least 1 */
    char memory[MEMORY_NAME_MAX]; /* memory of the target profile that holds the buffer; or empty */
    bool has_address;             /* false: the service chooses the address in `memory` */
    uint64_t address;             /* address of the first byte on the board */
};

/** Frees the buffers and their array. */
void buffer_specs_finish(struct buffer_spec *buffers, size_t count);

/** Writes the buffers as member "buffers"; nothing if `count` is 0. */
void buffer_specs_write(struct jsonw *w, const struct buffer_spec *buffers, size_t count);

/* Private to proto/file. Readers return 0, or -1 with the fault filled. */

/**
 * Reads "buffers", which may be absent, into a new array; *count is its length, also on failure.
 */
int buffer_specs_read(const struct json *array, struct buffer_spec **buffers, size_t *count);

/* The buffers of a file, sorted by name. */
struct buffer_index {
    const struct buffer_spec *buffers;
    const struct buffer_spec **sorted;
    size_t count;
};

/** Sorts the buffers. Refuses a name that two buffers have. */
int buffer_index_init(struct buffer_index *index, const struct buffer_spec *buffers, size_t count,
                      struct fault *fault);
/** Legal also after a failure of buffer_index_init(). */
void buffer_index_finish(struct buffer_index *index);
/** Sets *found to the number of the buffer with this name. The fault suggests a similar name. */
int buffer_index_find(const struct buffer_index *index, const char *name, size_t *found,
                      struct fault *fault);

#endif /* PROTO_BUFFER_SPEC_H */
