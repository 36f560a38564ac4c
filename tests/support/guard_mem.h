/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory between two inaccessible pages: an access one byte outside faults at once. */
#ifndef TEST_GUARD_MEM_H
#define TEST_GUARD_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guard_mem {
    uint8_t *base; /* the first accessible byte */
    size_t bytes;  /* size in whole pages; the byte after these pages is inaccessible */
    uint8_t *map;
    size_t map_bytes;
};

/* Allocates at least `bytes` accessible bytes. Returns 0, or -1 if the system has no memory. */
int guard_mem_init(struct guard_mem *g, size_t bytes);
void guard_mem_finish(struct guard_mem *g);

/* Returns the last `bytes` bytes before the upper inaccessible page. */
uint8_t *guard_mem_right(const struct guard_mem *g, size_t bytes);

/* Block all access to the memory between the guards, and allow it again. */
void guard_mem_close(const struct guard_mem *g);
void guard_mem_open(const struct guard_mem *g);

/*
 * Returns whether the bytes next to all memories are unchanged. Only guard_mem_bare.c, which has no
 * pages, needs this.
 */
bool guards_intact(void);

#endif /* TEST_GUARD_MEM_H */
