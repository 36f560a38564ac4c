/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the simulated processes. The live blocks of the service are listed with their callers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/fiber.h"
#include "tests/sim/kernel.h"
#include "tests/sim/real.h"
#include "tests/sim/world.h"
#include "tests/sim/wrapped.h"

enum { SLOTS = 1 << 16, FREED = 0xDB };

static struct block {
    void *address; /* null: the slot is free */
    const void *caller;
    size_t size;
    uint64_t step;
} blocks[SLOTS];

static struct block *slot_of(const void *address)
{
    size_t i = (size_t)((uintptr_t)address >> 4) * 2654435761u % SLOTS;

    while (blocks[i].address && blocks[i].address != address)
        i = (i + 1) % SLOTS;
    return &blocks[i];
}

static void *note_block(void *address, size_t size, const void *caller)
{
    if (!address || !fiber_current())
        return address;
    process_now()->blocks++;
    if (process_now()->service)
        *slot_of(address) = (struct block){address, caller, size, world_step};
    return address;
}

/*
 * Removes a block from the hash table, and moves up later blocks that only avoided its slot.
 * Returns the size of the block, or 0 if the block is unknown.
 */
static size_t forget_block(const void *address)
{
    struct block *slot = slot_of(address);
    const size_t size = slot->address ? slot->size : 0;
    size_t i = (size_t)(slot - blocks);

    process_now()->blocks--;
    if (!process_now()->service)
        return 0;
    if (!slot->address)
        world_fail("free() of a block that the service has not allocated");
    slot->address = NULL;
    for (i = (i + 1) % SLOTS; blocks[i].address; i = (i + 1) % SLOTS) {
        const struct block moved = blocks[i];

        blocks[i].address = NULL;
        *slot_of(moved.address) = moved;
    }
    return size;
}

void allocations_describe(void)
{
    for (size_t i = 0; i < SLOTS; i++) {
        if (blocks[i].address)
            fprintf(stderr,
                    "  %zu bytes, allocated in step %llu by the caller at %p (%p in the file)\n",
                    blocks[i].size, (unsigned long long)blocks[i].step, blocks[i].caller,
                    (const void *)((const char *)blocks[i].caller - program_base()));
    }
}

static bool fails(void)
{
    if (!fiber_current() || !kernel_fails(world_rates.memory))
        return false;
    errno = ENOMEM;
    return true;
}

#define CALLER __builtin_return_address(0)

void *WRAP(malloc)(size_t size)
{
    return fails() ? NULL : note_block(real_malloc(size), size, CALLER);
}

void *WRAP(calloc)(size_t count, size_t size)
{
    return fails() ? NULL : note_block(real_calloc(count, size), count * size, CALLER);
}

void *WRAP(realloc)(void *block, size_t size)
{
    void *moved;

    if (fails())
        return NULL;
    if (block && fiber_current())
        (void)forget_block(block);
    moved = real_realloc(block, size);
    return note_block(moved, size, CALLER);
}

void *WRAP(reallocarray)(void *block, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return WRAP(realloc)(block, bytes);
}

void WRAP(free)(void *block)
{
    if (block && fiber_current())
        memset(block, FREED, forget_block(block)); /* so that a later use is soon noticed */
    real_free(block);
}

char *WRAP(strdup)(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = fails() ? NULL : note_block(real_malloc(size), size, CALLER);

    return copy ? memcpy(copy, text, size) : NULL;
}

int WRAP(posix_memalign)(void **block, size_t alignment, size_t size)
{
    if (fails())
        return ENOMEM;
    *block = note_block(aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment),
                        size, CALLER);
    return *block ? 0 : ENOMEM;
}
