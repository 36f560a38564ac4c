/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes that are in buffers of the board already, found by their digest: sources of earlier jobs,
 * and outputs that may become sources. The least recently used ones make room.
 */
#ifndef CLI_BOARD_CACHE_H
#define CLI_BOARD_CACHE_H

#include "boards/link/serial_board.h"

enum { BOARD_CACHE_MAX = 32 };

struct board_cached {
    uint16_t buffer;        /* SERIAL_NO_BUFFER: the entry is free */
    bool pinned;            /* true: a job uses the buffer */
    uint64_t bytes, digest; /* XXH64 */
    uint32_t crc;
    uint64_t used; /* order of the last uses */
};

struct board_cache {
    struct board_cached list[BOARD_CACHE_MAX];
    uint64_t clock;
    uint64_t hits, hit_bytes;
};

/** Returns the entry with these bytes, or null. */
struct board_cached *board_cache_find(struct board_cache *cache, const void *bytes, size_t size);

/**
 * Hands a buffer with these bytes over to the cache. Frees an old entry if all are in use, or
 * the buffer itself if all are pinned. Returns its entry, or null if it was freed.
 */
struct board_cached *board_cache_add(struct board_cache *cache, struct board *board,
                                     uint16_t buffer, const void *bytes, size_t size);

/** Allocates a buffer, and frees old entries until there is room. Returns as board_alloc(). */
int board_cache_alloc(struct board_cache *cache, struct board *board, uint64_t bytes,
                      uint16_t *buffer, struct fault *fault);

#endif /* CLI_BOARD_CACHE_H */
