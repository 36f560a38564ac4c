/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Implements guard_mem.h for programs without pages: the guards are bytes with a pattern, which
 * guards_intact() compares. Inaccessible pages would not stop a DMA controller either.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/support/guard_mem.h"

enum { GUARD_BYTES = 4096, COMPARED = 512, PATTERN = 0xC7, MEMORIES_MAX = 16 };

static uint8_t *guards[2 * MEMORIES_MAX]; /* the bytes that are compared, COMPARED at each guard */
static size_t guard_count;

int guard_mem_init(struct guard_mem *g, size_t bytes)
{
    const size_t inner = (bytes + GUARD_BYTES - 1) / GUARD_BYTES * GUARD_BYTES;

    if (guard_count == sizeof(guards) / sizeof(*guards))
        return -1;
    g->map_bytes = inner + 2 * (size_t)GUARD_BYTES;
    g->map = malloc(g->map_bytes);
    if (!g->map)
        return -1;
    memset(g->map, PATTERN, g->map_bytes);
    g->base = g->map + GUARD_BYTES;
    g->bytes = inner;
    guards[guard_count++] = g->base - COMPARED;
    guards[guard_count++] = g->base + inner;
    return 0;
}

/* Frees nothing: the program on the board ends after the last case. */
void guard_mem_finish(struct guard_mem *g)
{
    *g = (struct guard_mem){0};
}

uint8_t *guard_mem_right(const struct guard_mem *g, size_t bytes)
{
    return g->base + g->bytes - bytes;
}

bool guards_intact(void)
{
    static const uint8_t pattern[COMPARED] = {[0 ... COMPARED - 1] = PATTERN};

    for (size_t i = 0; i < guard_count; i++) {
        if (memcmp(guards[i], pattern, COMPARED) != 0)
            return false;
    }
    return true;
}
