/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathers every s-th element with AVX2. For 16 bytes of results it makes a few loads of 16 bytes,
 * shuffles each so that its elements are in their places and zeros elsewhere, and combines them
 * with or. Each load begins at an element, except the last load, which ends at the last element: no
 * byte beyond the elements is read. The two lanes of a register do this at two places of the row.
 */
#include "libmli/src/exec/x86/kernels_x86.h"

#if LEVEL_HAS_X86

#include <immintrin.h>

TARGET_BEGIN("avx2,prfchw")

#include "libmli/src/exec/x86/lanes_avx2.h"

enum { SPREAD_MAX = 15, LOADS_MAX = 8, SIZES = 3 };

/* The tables for one size of element and one spread: the distance of wanted elements, in elements.
 */
static struct pattern {
    uint8_t order[LOADS_MAX][LANE]; /* source byte of each byte of load k, or 0x80 for zero */
    uint8_t begin[LOADS_MAX];       /* start of load k, in bytes from the first element */
    uint8_t loads;                  /* number of loads; 0: C is as fast */
} patterns[SIZES][SPREAD_MAX + 1];

static void make_pattern(struct pattern *p, uint32_t size, uint32_t spread)
{
    const uint32_t step = spread * size, per_load = (LANE - size) / step + 1, count = LANE / size;
    const uint32_t last = (count - 1) * step + size - LANE; /* start of the last load */

    for (uint32_t k = 0; k * per_load < count; k++) {
        const uint32_t begin = k * per_load * step;

        p->begin[k] = (uint8_t)(begin < last ? begin : last);
        for (uint32_t b = 0; b < LANE; b++) {
            const uint32_t element = b / size;

            p->order[k][b] =
                element / per_load == k ? (uint8_t)(element * step + b % size - p->begin[k]) : 0x80;
        }
    }
    p->loads = (uint8_t)((count + per_load - 1) / per_load);
}

void gather_avx2_init(void)
{
    for (uint32_t i = 0; i < SIZES; i++)
        for (uint32_t spread = 2; spread < (uint32_t)LANE >> i; spread++)
            make_pattern(&patterns[i][spread], 1u << i, spread);
}

/* A pattern in registers: stores cannot change it, so it is not loaded again. */
struct gatherer {
    __m256i order[LOADS_MAX];
    size_t begin[LOADS_MAX];
    size_t spread;
};

ALWAYS_INLINE struct gatherer make_gatherer(const struct pattern *p, size_t loads, size_t spread)
{
    struct gatherer gatherer = {.spread = spread};

    _Pragma("GCC unroll 8") for (size_t k = 0; k < loads; k++)
    {
        gatherer.order[k] = both_lanes(p->order[k]);
        gatherer.begin[k] = p->begin[k];
    }
    return gatherer;
}

/*
 * Returns 16 bytes of results from `src` in the low lane, and from `src + apart` in the high lane.
 */
ALWAYS_INLINE __m256i gather_lanes(const struct gatherer *p, size_t loads, const uint8_t *src,
                                   size_t apart)
{
    __m256i v = _mm256_shuffle_epi8(load_2(src, src + apart), p->order[0]);

    _Pragma("GCC unroll 8") for (size_t k = 1; k < loads; k++)
    {
        const uint8_t *at = src + p->begin[k];

        v = _mm256_or_si256(v, _mm256_shuffle_epi8(load_2(at, at + apart), p->order[k]));
    }
    return v;
}

/* Gathers a row with at least 16 bytes of results. */
ALWAYS_INLINE void gather_row(const struct gatherer *p, size_t loads, uint8_t *dst,
                              const uint8_t *src, size_t bytes)
{
    const size_t last = bytes - VEC, spread = p->spread;

    if (bytes < VEC) {
        const __m256i v = gather_lanes(p, loads, src, (bytes - LANE) * spread);

        store_16(dst, _mm256_castsi256_si128(v));
        store_16(dst + bytes - LANE, _mm256_extracti128_si256(v, 1));
        return;
    }
    for (size_t i = 0; i < last; i += VEC)
        store_32(dst + i, gather_lanes(p, loads, src + i * spread, LANE * spread));
    store_32(dst + last, gather_lanes(p, loads, src + last * spread, LANE * spread));
}

static leaf_gather *const plain[] = {gather_c_1, gather_c_2, gather_c_4, gather_c_8};

void gather_avx2(uint32_t size_log, const struct leaf_nest *nest, size_t step, size_t cols)
{
    const size_t spread = step >> size_log, bytes = cols << size_log;
    const struct pattern *p;

    if (size_log >= SIZES || spread > SPREAD_MAX || step != spread << size_log || bytes < LANE ||
        patterns[size_log][spread].loads == 0) {
        plain[size_log](nest, step, cols);
        return;
    }
    p = &patterns[size_log][spread];
#define ROWS_WITH(loads, spread)                                                                   \
    {                                                                                              \
        const struct gatherer gatherer = make_gatherer(p, loads, spread);                          \
                                                                                                   \
        NEST_FOR_ROWS(nest, to, from, { gather_row(&gatherer, loads, to, from, bytes); })          \
    }
    if (p->loads == 2)
        ROWS_WITH(2, spread)
    else if (p->loads == 3)
        ROWS_WITH(3, spread)
    else if (p->loads == 4)
        ROWS_WITH(4, spread)
    else if (p->loads == 6)
        ROWS_WITH(6, spread)
    else
        ROWS_WITH(8, spread)
#undef ROWS_WITH
}

TARGET_END

#endif
