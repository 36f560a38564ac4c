/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads FlatBuffers in place (https://flatbuffers.dev/internals): a table begins with the distance
 * to its vtable, which has the position of each field in the table; vectors and strings begin with
 * their length; all numbers are little-endian. Every access is checked against the end of the
 * bytes.
 *
 * Several tables may share a vector, so a small hostile file could describe gigabytes: `budget`
 * limits the total number of bytes that are read, and thereby time and memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flatbuffer {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t budget;     /* bytes that may still be read */
    const char *problem; /* the first error; null: none. After an error all reads return zeros */
};

/* A table at position `at`. If `at` is 0, the table and all its fields are absent. */
struct flatbuffer_table {
    uint64_t at;
    uint64_t vtable;
    uint32_t vtable_size, size;
};

/* A vector of `count` elements of `width` bytes; `at`: position of the first element. */
struct flatbuffer_vector {
    uint64_t at;
    uint32_t count, width;
};

void flatbuffer_init(struct flatbuffer *flatbuffer, const uint8_t *bytes, uint64_t size);

/** Returns the root table; checks the four letters of the file's identifier. */
struct flatbuffer_table flatbuffer_root(struct flatbuffer *flatbuffer, const char *identifier);

/** Returns field `id`, an integer of `width` bytes (1, 2, 4 or 8), or `absent`. */
uint64_t flatbuffer_uint(struct flatbuffer *flatbuffer, const struct flatbuffer_table *table,
                         uint32_t id, uint32_t width, uint64_t absent);
int32_t flatbuffer_int32(struct flatbuffer *flatbuffer, const struct flatbuffer_table *table,
                         uint32_t id, int32_t absent);

/** Returns the table in field `id`. */
struct flatbuffer_table flatbuffer_table(struct flatbuffer *flatbuffer,
                                         const struct flatbuffer_table *table, uint32_t id);

/** Returns the vector in field `id`, empty if it is absent. A string is a vector of width 1. */
struct flatbuffer_vector flatbuffer_vector(struct flatbuffer *flatbuffer,
                                           const struct flatbuffer_table *table, uint32_t id,
                                           uint32_t width);
/** Like flatbuffer_vector(), for bytes that are not read here: the budget does not count them. */
struct flatbuffer_vector flatbuffer_bytes(struct flatbuffer *flatbuffer,
                                          const struct flatbuffer_table *table, uint32_t id);

/** Returns element i < count of a vector of numbers. */
uint64_t flatbuffer_element(const struct flatbuffer *flatbuffer,
                            const struct flatbuffer_vector *vector, uint32_t i);
int32_t flatbuffer_element32(const struct flatbuffer *flatbuffer,
                             const struct flatbuffer_vector *vector, uint32_t i);
/** Returns element i < count of a vector of tables (width 4). */
struct flatbuffer_table flatbuffer_element_table(struct flatbuffer *flatbuffer,
                                                 const struct flatbuffer_vector *vector,
                                                 uint32_t i);
