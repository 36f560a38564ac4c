/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/guard_mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int guard_mem_init(struct guard_mem *g, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t inner = (bytes + page - 1) / page * page;
    void *map = mmap(NULL, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED)
        return -1;
    g->map = map;
    g->map_bytes = inner + 2 * page;
    g->base = g->map + page;
    g->bytes = inner;
    guard_mem_open(g);
    return 0;
}

void guard_mem_finish(struct guard_mem *g)
{
    if (g->map)
        munmap(g->map, g->map_bytes);
    *g = (struct guard_mem){0};
}

uint8_t *guard_mem_right(const struct guard_mem *g, size_t bytes)
{
    return g->base + g->bytes - bytes;
}

static void set_access(const struct guard_mem *g, int access)
{
    if (mprotect(g->base, g->bytes, access) != 0) {
        perror("mprotect");
        abort();
    }
}

void guard_mem_close(const struct guard_mem *g)
{
    set_access(g, PROT_NONE);
}

void guard_mem_open(const struct guard_mem *g)
{
    set_access(g, PROT_READ | PROT_WRITE);
}
