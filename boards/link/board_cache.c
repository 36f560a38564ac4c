/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/link/board_cache.h"

#include <stddef.h>

#include "proto/wire/xxh64.h"

static uint64_t digest_of(const void *bytes, size_t size)
{
    struct xxh64 x;

    xxh64_init(&x);
    xxh64_add(&x, bytes, size);
    return xxh64_value(&x);
}

struct board_cached *board_cache_find(struct board_cache *cache, const void *bytes, size_t size)
{
    const uint64_t digest = digest_of(bytes, size);

    for (size_t i = 0; i < BOARD_CACHE_MAX; i++) {
        struct board_cached *entry = &cache->list[i];

        if (entry->buffer == SERIAL_NO_BUFFER || entry->digest != digest || entry->bytes != size)
            continue;
        entry->used = ++cache->clock;
        cache->hits++;
        cache->hit_bytes += size;
        return entry;
    }
    return NULL;
}

/* Frees the entry that was not used for the longest time. Returns it, or null if all are pinned. */
static struct board_cached *evict(struct board_cache *cache, struct board *board,
                                  struct fault *fault)
{
    struct board_cached *oldest = NULL;

    for (size_t i = 0; i < BOARD_CACHE_MAX; i++) {
        struct board_cached *entry = &cache->list[i];

        if (entry->buffer != SERIAL_NO_BUFFER && !entry->pinned &&
            (!oldest || entry->used < oldest->used))
            oldest = entry;
    }
    if (!oldest || board_free(board, oldest->buffer, fault))
        return NULL;
    oldest->buffer = SERIAL_NO_BUFFER;
    return oldest;
}

static struct board_cached *find_room(struct board_cache *cache, struct board *board)
{
    struct fault ignored;

    for (size_t i = 0; i < BOARD_CACHE_MAX; i++) {
        if (cache->list[i].buffer == SERIAL_NO_BUFFER)
            return &cache->list[i];
    }
    return evict(cache, board, &ignored);
}

struct board_cached *board_cache_add(struct board_cache *cache, struct board *board,
                                     uint16_t buffer, const void *bytes, size_t size)
{
    struct board_cached *entry = find_room(cache, board);
    struct fault ignored;

    if (!entry) {
        (void)board_free(board, buffer, &ignored);
        return NULL;
    }
    *entry = (struct board_cached){.buffer = buffer,
                                   .bytes = size,
                                   .digest = digest_of(bytes, size),
                                   .crc = serial_crc32(0, bytes, size),
                                   .used = ++cache->clock};
    return entry;
}

int board_cache_alloc(struct board_cache *cache, struct board *board, uint64_t bytes,
                      uint16_t *buffer, struct fault *fault)
{
    struct fault ignored;

    while (board_alloc(board, bytes, buffer, fault)) {
        const bool full =
            board->result == SERIAL_RESULT_NO_MEMORY || board->result == SERIAL_RESULT_NO_SLOT;

        if (board->lost || !full || !evict(cache, board, &ignored))
            return -1;
    }
    return 0;
}
