/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/moves/bench_oracle.h"

enum { LINE = 64, SLACK = 4096, ROOM = 4 << 20 };

uint64_t memory_random(struct memory *m)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return m->random;
}

static uint8_t *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
                   -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

int memory_init(struct memory *m, size_t src_bytes, size_t dst_bytes, uint64_t seed)
{
    memset(m, 0, sizeof(*m));
    /* Similar seeds must give different numbers, and the generator must not be 0. */
    m->random = (seed + 1) * 0x9E3779B97F4A7C15u;
    m->random = m->random ? m->random : 1;
    m->room = ROOM;
    m->src_size = (src_bytes > dst_bytes ? src_bytes : dst_bytes) + ROOM + SLACK;
    m->dst_size = dst_bytes + ROOM + SLACK;
    m->src = map(m->src_size);
    m->dst = map(m->dst_size);
    m->expected = map(m->dst_size);
    if (!m->src || !m->dst || !m->expected) {
        fprintf(stderr, "bench-moves: no memory: %zu MiB of source, 2 x %zu MiB of destination\n",
                m->src_size >> 20, m->dst_size >> 20);
        memory_finish(m);
        return -1;
    }
    for (size_t i = 0; i + 8 <= m->src_size; i += 8) {
        const uint64_t word = memory_random(m);

        memcpy(m->src + i, &word, sizeof(word));
    }
    memset(m->dst, MEMORY_FILL, m->dst_size);
    memset(m->expected, MEMORY_FILL, m->dst_size);
    return 0;
}

void memory_finish(struct memory *m)
{
    if (m->src)
        munmap(m->src, m->src_size);
    if (m->dst)
        munmap(m->dst, m->dst_size);
    if (m->expected)
        munmap(m->expected, m->dst_size);
    memset(m, 0, sizeof(*m));
}

void memory_place(struct memory *m, struct job *j)
{
    const size_t lines = m->room / LINE;

    j->src = m->src + LINE + memory_random(m) % lines * LINE + j->kind->src_skew;
    j->dst = m->dst + 2 * LINE + memory_random(m) % lines * LINE + j->kind->dst_skew;
}

void memory_clear(const struct job *j)
{
    memset(j->dst - MEMORY_GUARD, MEMORY_FILL, j->dst_bytes + 2 * MEMORY_GUARD);
}

void memory_expect(struct memory *m, const struct job *j, bool spoil)
{
    uint8_t *dst = m->expected + MEMORY_GUARD;

    memset(m->expected, MEMORY_FILL, j->dst_bytes + 2 * MEMORY_GUARD);
    oracle_write(j, dst);
    if (spoil)
        dst[memory_random(m) % j->dst_bytes] ^= 1;
}

bool memory_differs(const struct memory *m, const struct job *j, int64_t *at, uint8_t values[2])
{
    const uint8_t *found = j->dst - MEMORY_GUARD;
    const size_t bytes = j->dst_bytes + 2 * MEMORY_GUARD;
    size_t i = 0;

    if (memcmp(found, m->expected, bytes) == 0)
        return false;
    while (found[i] == m->expected[i])
        i++;
    *at = (int64_t)i - MEMORY_GUARD;
    values[0] = found[i];
    values[1] = m->expected[i];
    return true;
}
