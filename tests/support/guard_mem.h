/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory between two inaccessible pages: an access one byte outside is a fault, at once. */
#ifndef TEST_GUARD_MEM_H
#define TEST_GUARD_MEM_H

#include <stddef.h>
#include <stdint.h>

struct guard_mem {
    uint8_t *base; /* first accessible byte; the byte before it is not */
    size_t bytes;  /* whole pages; the byte behind them is not accessible */
    uint8_t *map;
    size_t map_bytes;
};

/* At least `bytes` accessible bytes. 0, or -1 when the system gives no memory. */
int guard_mem_init(struct guard_mem *g, size_t bytes);
void guard_mem_finish(struct guard_mem *g);

/* The last `bytes` bytes before the upper inaccessible page. */
uint8_t *guard_mem_right(const struct guard_mem *g, size_t bytes);

/* Makes the memory between the guards inaccessible, or accessible again. */
void guard_mem_close(const struct guard_mem *g);
void guard_mem_open(const struct guard_mem *g);

#endif /* TEST_GUARD_MEM_H */
