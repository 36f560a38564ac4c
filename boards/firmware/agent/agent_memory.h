/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of the agent: ranges of the memory for tensors, first fit. */
#ifndef FIRMWARE_AGENT_MEMORY_H
#define FIRMWARE_AGENT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef AGENT_BUFFERS_MAX
#define AGENT_BUFFERS_MAX 128
#endif

enum {
    AGENT_ALIGNMENT = 64,      /* of every buffer: a cache line */
    AGENT_ALIGNMENT_MAX = 4096 /* largest alignment that a request may ask for */
};

struct agent_buffer {
    size_t begin, bytes; /* in the memory for tensors; bytes 0: the entry is free */
};

struct agent_memory {
    uint8_t *base;
    size_t bytes;
    struct agent_buffer buffers[AGENT_BUFFERS_MAX]; /* buffer 1 is entry 0 */
};

void agent_memory_init(struct agent_memory *memory, uint8_t *base, size_t bytes);

enum agent_alloc { AGENT_ALLOC_DONE, AGENT_ALLOC_NO_MEMORY, AGENT_ALLOC_NO_SLOT };

/**
 * Allocates a buffer of `bytes` > 0 bytes; *number is from 1. The contents are undefined.
 * `alignment` is a power of two up to AGENT_ALIGNMENT_MAX, or 0.
 */
enum agent_alloc agent_memory_alloc(struct agent_memory *memory, uint64_t bytes, uint32_t alignment,
                                    uint16_t *number);

/** Returns a buffer, or null if there is no buffer of this number. */
struct agent_buffer *agent_memory_buffer(struct agent_memory *memory, uint16_t number);

/** Returns the address of bytes [offset, offset + count) of a buffer; null if it has none. */
uint8_t *agent_memory_at(struct agent_memory *memory, uint16_t number, uint64_t offset,
                         uint64_t count);

#endif /* FIRMWARE_AGENT_MEMORY_H */
