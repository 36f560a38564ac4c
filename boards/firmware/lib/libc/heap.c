/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A heap that grows upwards: free() gives back the memory at its top, and marks other memory until
 * it is at the top. This is right for programs that free in reverse order, as the tests do.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16 };

/* From the linker script. */
extern char __heap_start[], __heap_end[];

/* Precedes each block. */
struct block {
    _Alignas(ALIGNMENT) size_t bytes; /* bytes after the header, a multiple of ALIGNMENT */
    struct block *below;              /* the block before it; null: the first */
    int used;
};

static struct block *top; /* the last block */

static char *end_of(const struct block *block)
{
    return block ? (char *)(uintptr_t)(block + 1) + block->bytes : __heap_start;
}

void *malloc(size_t bytes)
{
    char *at = end_of(top);
    const size_t room = (size_t)(__heap_end - at);
    struct block *block = (struct block *)(void *)at;

    if (room < sizeof(*block) || bytes > room - sizeof(*block) - (ALIGNMENT - 1))
        return NULL;
    *block = (struct block){(bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, top, 1};
    top = block;
    return block + 1;
}

void *calloc(size_t count, size_t bytes)
{
    size_t all;
    void *at;

    if (__builtin_mul_overflow(count, bytes, &all))
        return NULL;
    at = malloc(all);
    return at ? memset(at, 0, all) : NULL;
}

void free(void *at)
{
    if (!at)
        return;
    ((struct block *)at - 1)->used = 0;
    while (top && !top->used)
        top = top->below;
}
