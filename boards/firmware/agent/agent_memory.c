/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/firmware/agent/agent.h"

void agent_memory_init(struct agent_memory *memory, uint8_t *base, size_t bytes)
{
    memory->base = base;
    memory->bytes = bytes;
    for (size_t i = 0; i < AGENT_BUFFERS_MAX; i++)
        memory->buffers[i].bytes = 0;
}

/* Rounds an offset up, so that its address is aligned. */
static size_t aligned(const struct agent_memory *memory, size_t at, size_t alignment)
{
    const uintptr_t address = (uintptr_t)memory->base + at;

    return at + (size_t)(-address & (alignment - 1));
}

/* Returns whether [begin, begin + bytes) is inside the memory and meets no buffer. */
static bool is_free(const struct agent_memory *memory, size_t begin, size_t bytes)
{
    if (begin > memory->bytes || bytes > memory->bytes - begin)
        return false;
    for (size_t i = 0; i < AGENT_BUFFERS_MAX; i++) {
        const struct agent_buffer *other = &memory->buffers[i];

        if (other->bytes > 0 && begin < other->begin + other->bytes && other->begin < begin + bytes)
            return false;
    }
    return true;
}

/* Finds the lowest free range. A range begins with the memory, or behind a buffer. */
static bool find_range(const struct agent_memory *memory, size_t bytes, size_t alignment,
                       size_t *begin)
{
    size_t at = aligned(memory, 0, alignment);
    bool found = is_free(memory, at, bytes);

    *begin = at;
    for (size_t i = 0; i < AGENT_BUFFERS_MAX; i++) {
        const struct agent_buffer *before = &memory->buffers[i];

        if (before->bytes == 0)
            continue;
        at = aligned(memory, before->begin + before->bytes, alignment);
        if ((found && at >= *begin) || !is_free(memory, at, bytes))
            continue;
        *begin = at;
        found = true;
    }
    return found;
}

enum serial_result agent_memory_alloc(struct agent_memory *memory, uint64_t bytes,
                                      uint32_t alignment, uint16_t *number)
{
    const size_t unit = alignment > AGENT_ALIGNMENT ? alignment : AGENT_ALIGNMENT;
    size_t slot = 0, begin;

    while (slot < AGENT_BUFFERS_MAX && memory->buffers[slot].bytes > 0)
        slot++;
    if (slot == AGENT_BUFFERS_MAX)
        return SERIAL_RESULT_NO_SLOT;
    if (bytes > memory->bytes || !find_range(memory, (size_t)bytes, unit, &begin))
        return SERIAL_RESULT_NO_MEMORY;
    memory->buffers[slot] = (struct agent_buffer){begin, (size_t)bytes};
    *number = (uint16_t)(slot + 1);
    return SERIAL_RESULT_DONE;
}

struct agent_buffer *agent_memory_buffer(struct agent_memory *memory, uint16_t number)
{
    if (number == 0 || number > AGENT_BUFFERS_MAX || memory->buffers[number - 1].bytes == 0)
        return NULL;
    return &memory->buffers[number - 1];
}

uint8_t *agent_memory_at(struct agent_memory *memory, uint16_t number, uint64_t offset,
                         uint64_t count)
{
    const struct agent_buffer *buffer = agent_memory_buffer(memory, number);

    if (!buffer || offset > buffer->bytes || count > buffer->bytes - offset)
        return NULL;
    return memory->base + buffer->begin + (size_t)offset;
}
