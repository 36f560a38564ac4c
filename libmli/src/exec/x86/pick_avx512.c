/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Picking every s-th element with AVX-512, s loads and one permutation for 64 bytes of results.
 *
 * Load k is placed so that what is wanted of it lies at the places k, k + s, k + 2s ... of the
 * register: the s loads, blended, leave no place empty, and one permutation puts the elements in
 * order. With n[k] = the places of load k and S[k] = the sum of those before it, load k begins at
 * element S[k] * s - k.
 */
#include "../level.h"

#if LEVEL_HAS_X86

#include <immintrin.h>

#include "../nest.h"
#include "pick_avx512.h"
#include "target.h"

TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")

enum { LINE = 64, SPREAD_MAX = 16, SIZES = 3 };

/* How one spread is picked, for one size of element. */
static struct pattern {
    _Alignas(64) uint8_t order[LINE]; /* byte i of the result is byte order[i] of the blend */
    uint64_t places[SPREAD_MAX];      /* bytes of the blend that come from load k */
    uint16_t begin[SPREAD_MAX];       /* of load k, in bytes from the first element */
} patterns[SIZES][SPREAD_MAX + 1];

static void make_pattern(struct pattern *p, uint32_t size, uint32_t spread)
{
    const uint32_t elements = LINE / size;
    uint32_t element = 0;

    for (uint32_t k = 0; k < spread && k < elements; k++) {
        p->begin[k] = (uint16_t)((element * spread - k) * size);
        for (uint32_t place = k; place < elements; place += spread, element++) {
            for (uint32_t b = 0; b < size; b++) {
                p->order[element * size + b] = (uint8_t)(place * size + b);
                p->places[k] |= UINT64_C(1) << (place * size + b);
            }
        }
    }
}

void pick_avx512_init(void)
{
    for (uint32_t i = 0; i < SIZES; i++)
        for (uint32_t spread = 2; spread <= SPREAD_MAX; spread++)
            make_pattern(&patterns[i][spread], 1u << i, spread);
}

bool pick_avx512_can(uint32_t size_log, size_t step)
{
    const size_t spread = step >> size_log;

    return size_log < SIZES && step % ((size_t)1 << size_log) == 0 && spread >= 2 &&
           spread <= SPREAD_MAX && spread <= (size_t)LINE >> size_log;
}

#define LOAD(at, mask) _mm512_maskz_loadu_epi8((mask), (const void *)(at))

/* The first `bytes` of a register. */
static inline __attribute__((always_inline)) uint64_t first(size_t bytes)
{
    return bytes >= LINE ? ~UINT64_C(0) : (UINT64_C(1) << bytes) - 1;
}

/* 64 bytes of results from addresses that are all readable. */
static inline __attribute__((always_inline)) __m512i pick_line(const struct pattern *p,
                                                               size_t spread, const uint8_t *src)
{
    __m512i v = _mm512_loadu_si512((const void *)src);

    for (size_t k = 1; k < spread; k++)
        v = _mm512_mask_loadu_epi8(v, p->places[k], (const void *)(src + p->begin[k]));
    return _mm512_permutexvar_epi8(_mm512_load_si512((const void *)p->order), v);
}

/* The same where only `readable` bytes are. */
static __m512i pick_last(const struct pattern *p, size_t spread, const uint8_t *src,
                         size_t readable)
{
    __m512i v = LOAD(src, first(readable));

    for (size_t k = 1; k < spread && p->begin[k] < readable; k++)
        v = _mm512_mask_loadu_epi8(v, p->places[k] & first(readable - p->begin[k]),
                                   (const void *)(src + p->begin[k]));
    return _mm512_permutexvar_epi8(_mm512_load_si512((const void *)p->order), v);
}

static inline __attribute__((always_inline)) void pick_row(const struct pattern *p, size_t size,
                                                           size_t spread, uint8_t *dst,
                                                           const uint8_t *src, size_t cols)
{
    const size_t line = LINE / size;

    for (; cols > line; cols -= line, dst += LINE, src += line * spread * size)
        _mm512_storeu_si512((void *)dst, pick_line(p, spread, src));
    _mm512_mask_storeu_epi8((void *)dst, first(cols * size),
                            pick_last(p, spread, src, ((cols - 1) * spread + 1) * size));
}

void pick_avx512(uint32_t size_log, const struct leaf_nest *nest, size_t step, size_t cols)
{
    const size_t size = (size_t)1 << size_log, spread = step >> size_log;
    const struct pattern *p = &patterns[size_log][spread];

    /* The spreads that are common get loops of their own. */
#define ROWS_WITH(s) NEST_FOR_ROWS(nest, to, from, { pick_row(p, size, s, to, from, cols); })
    if (spread == 2)
        ROWS_WITH(2)
    else if (spread == 3)
        ROWS_WITH(3)
    else if (spread == 4)
        ROWS_WITH(4)
    else
        ROWS_WITH(spread)
#undef ROWS_WITH
}

TARGET_END

#endif
