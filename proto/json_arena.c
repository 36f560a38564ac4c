/* SPDX-License-Identifier: BSD-3-Clause */
#include "json_arena.h"

#include <cJSON.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { BLOCK_MIN = 8 * 1024, BLOCK_MAX = 1024 * 1024, ALIGNMENT = alignof(max_align_t) };

/* With the address sanitizer each text has blocks of its own, so that it sees who uses them late.
 */
#if defined(__SANITIZE_ADDRESS__)
#define OWN_BLOCKS true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OWN_BLOCKS true
#endif
#endif
#ifndef OWN_BLOCKS
#define OWN_BLOCKS false
#endif

struct block {
    struct block *older;
    size_t size, used; /* of bytes */
    alignas(max_align_t) char bytes[];
};

/* Lies at the beginning of its oldest block. */
struct json_arena {
    struct block *newest;
};

static _Thread_local struct {
    bool taken;
    alignas(max_align_t) char bytes[BLOCK_MIN];
} reserve;

static _Thread_local struct json_arena *current;

static void *cut(struct block *block, size_t size)
{
    char *piece = block->bytes + block->used;

    if (size > block->size - block->used)
        return NULL;
    block->used += size;
    return piece;
}

/* A block with room for `size` bytes at least. */
static struct block *block_create(size_t size, size_t wanted)
{
    struct block *block;

    if (size < wanted)
        size = wanted;
    if (size > SIZE_MAX - sizeof *block)
        return NULL;
    block = malloc(sizeof *block + size);
    if (block)
        *block = (struct block){.size = size};
    return block;
}

static void *allocate(size_t size)
{
    struct json_arena *arena = current;
    struct block *block;
    void *piece;

    if (!arena)
        return malloc(size);
    if (size > SIZE_MAX - ALIGNMENT)
        return NULL;
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    piece = cut(arena->newest, size);
    if (piece)
        return piece;
    block =
        block_create(arena->newest->size < BLOCK_MAX ? arena->newest->size * 2 : BLOCK_MAX, size);
    if (!block)
        return NULL;
    block->older = arena->newest;
    arena->newest = block;
    return cut(block, size);
}

/* What lies in an arena goes with it; only outside of the two calls there is anything to free. */
static void release(void *piece)
{
    if (!current)
        free(piece);
}

static void install(void)
{
    cJSON_Hooks hooks = {.malloc_fn = allocate, .free_fn = release};

    cJSON_InitHooks(&hooks);
}

void json_arena_install(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, install);
}

struct json_arena *json_arena_begin(void)
{
    struct block *block;

    if (!reserve.taken && !OWN_BLOCKS) {
        block = (struct block *)(void *)reserve.bytes;
        *block = (struct block){.size = sizeof reserve.bytes - sizeof *block};
        reserve.taken = true;
    } else {
        block = block_create(BLOCK_MIN, 0);
        if (!block)
            return NULL;
    }
    current = cut(block, (sizeof *current + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1));
    current->newest = block;
    return current;
}

void json_arena_end(void)
{
    current = NULL;
}

void json_arena_destroy(struct json_arena *arena)
{
    struct block *block = arena ? arena->newest : NULL;

    while (block) {
        struct block *older = block->older;

        if ((void *)block == (void *)reserve.bytes)
            reserve.taken = false;
        else
            free(block);
        block = older;
    }
}
