/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/property/oracle_overlap.h"

#include <stdio.h>
#include <stdlib.h>

struct marks {
    uint8_t *seen; /* one flag for each byte, or for each element */
    uint64_t dst_at;
    uint64_t src_at;
    uint32_t esize;
    bool twice;
};

static uint8_t *flags_create(uint64_t count)
{
    uint8_t *flags = calloc(1, count);

    if (!flags) {
        fprintf(stderr, "oracle: out of memory\n");
        abort();
    }
    return flags;
}

static void mark_written_element(void *context, int64_t from, uint64_t to)
{
    struct marks *m = context;

    (void)from;
    m->twice |= m->seen[to];
    m->seen[to] = 1;
}

bool oracle_dst_overlaps_itself(const struct oracle *o, const mli_tensor *src,
                                const mli_mov_cfg_t *cfg)
{
    struct marks m = {.seen = flags_create(o->dst_bytes / o->esize)};

    oracle_each(o, src, cfg, mark_written_element, &m);
    free(m.seen);
    return m.twice;
}

static void mark_written_bytes(void *context, int64_t from, uint64_t to)
{
    struct marks *m = context;

    (void)from;
    for (uint32_t b = 0; b < m->esize; b++)
        m->seen[m->dst_at + to * m->esize + b] = 1;
}

static void find_read_bytes(void *context, int64_t from, uint64_t to)
{
    struct marks *m = context;

    (void)to;
    for (uint32_t b = 0; from >= 0 && b < m->esize; b++)
        m->twice |= m->seen[m->src_at + (uint64_t)from * m->esize + b];
}

bool oracle_src_overlaps_dst(const struct oracle *o, const mli_tensor *src,
                             const mli_mov_cfg_t *cfg, const mli_tensor *dst)
{
    uintptr_t s = (uintptr_t)src->data.mem.pi8, d = (uintptr_t)dst->data.mem.pi8;
    uintptr_t low = s < d ? s : d;
    uint64_t s_end = s + o->src_bytes, d_end = d + o->dst_bytes;
    struct marks m = {.dst_at = d - low, .src_at = s - low, .esize = o->esize};

    if (s_end <= d || d_end <= s)
        return false;
    m.seen = flags_create((s_end > d_end ? s_end : d_end) - low);
    oracle_each(o, src, cfg, mark_written_bytes, &m);
    oracle_each(o, src, cfg, find_read_bytes, &m);
    free(m.seen);
    return m.twice;
}
