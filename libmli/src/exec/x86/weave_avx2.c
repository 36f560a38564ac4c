/* SPDX-License-Identifier: BSD-3-Clause */
/* Many rows of few columns with AVX2: a few planes become a picture of interleaved channels. */
#include "../level.h"

#if LEVEL_HAS_X86

#include <immintrin.h>

#include "target.h"
#include "weave_avx2.h"

TARGET_BEGIN("avx2")

#include "lanes_avx2.h"

enum { SIZES = 3 };

/* three[i][k][col]: what a lane of a column gives lane k of the three that become of it. */
static uint8_t three[SIZES][3][3][LANE];

void weave_avx2_init(void)
{
    for (uint32_t at = 0; at < SIZES * 3 * LANE; at++) {
        const uint32_t i = at / (3 * LANE), to = at % (3 * LANE), element = to >> i;
        const uint32_t in_element = to & ((1u << i) - 1);

        for (uint32_t col = 0; col < 3; col++)
            three[i][to / LANE][col][to % LANE] =
                (uint8_t)(element % 3 == col ? (element / 3 << i) + in_element : 0x80);
    }
}

static void weave_3(uint32_t size_log, uint8_t *dst, const uint8_t *src, size_t src_step,
                    size_t cols, size_t tiles)
{
    __m256i order[3][3];

    (void)cols;
    _Pragma("GCC unroll 9") for (size_t i = 0; i < 9; i++) order[i / 3][i % 3] =
        _mm256_broadcastsi128_si256(load_1(three[size_log][i / 3][i % 3]));
    for (; tiles > 0; tiles--, src += VEC, dst += 3 * VEC) {
        const __m256i a = load_32(src), b = load_32(src + src_step),
                      c = load_32(src + 2 * src_step);

        _Pragma("GCC unroll 3") for (size_t k = 0; k < 3; k++)
        {
            const __m256i ab = _mm256_or_si256(_mm256_shuffle_epi8(a, order[k][0]),
                                               _mm256_shuffle_epi8(b, order[k][1]));
            const __m256i abc = _mm256_or_si256(ab, _mm256_shuffle_epi8(c, order[k][2]));

            store_16(dst + k * LANE, _mm256_castsi256_si128(abc));
            store_16(dst + (k + 3) * LANE, _mm256_extracti128_si256(abc, 1));
        }
    }
}

/* A lane of as many rows as it has, each of `most` elements, of which `row` bytes are wanted. */
ALWAYS_INLINE uint8_t *store_rows(uint8_t *dst, size_t most_bytes, size_t row, __m128i v)
{
    if (most_bytes == 8 && row < 8) {
        _mm_storel_epi64((__m128i *)(void *)dst, v);
        _mm_storeh_pd((double *)(void *)(dst + row), _mm_castsi128_pd(v));
        return dst + 2 * row;
    }
    store_16(dst, v);
    return dst + (most_bytes == LANE ? row : (size_t)LANE);
}

/* Up to `most` columns, a power of two; in registers beyond the last one is anything. */
ALWAYS_INLINE void weave_any(size_t size, size_t most, uint8_t *dst, const uint8_t *src,
                             size_t src_step, size_t cols, size_t tiles)
{
    const size_t row = cols * size;

    for (; tiles > 0; tiles--, src += VEC) {
        __m256i x[16];

        _Pragma("GCC unroll 16") for (size_t k = 0; k < most; k++)
        {
            x[k] = x[0];
            if (k <= most / 2 || k < cols)
                x[k] = load_32(src + k * src_step);
        }
        weave_registers(size, most, x);
        _Pragma("GCC unroll 16") for (size_t k = 0; k < most; k++) dst =
            store_rows(dst, most * size, row, _mm256_castsi256_si128(x[k]));
        _Pragma("GCC unroll 16") for (size_t k = 0; k < most; k++) dst =
            store_rows(dst, most * size, row, _mm256_extracti128_si256(x[k], 1));
    }
}

#define DEFINE_ANY(size, most)                                                                     \
    static void weave_##size##_##most(uint32_t size_log, uint8_t *dst, const uint8_t *src,         \
                                      size_t src_step, size_t cols, size_t tiles)                  \
    {                                                                                              \
        (void)size_log;                                                                            \
        weave_any(size, most, dst, src, src_step, cols, tiles);                                    \
    }

DEFINE_ANY(1, 2)
DEFINE_ANY(1, 4)
DEFINE_ANY(1, 8)
DEFINE_ANY(1, 16)
DEFINE_ANY(2, 2)
DEFINE_ANY(2, 4)
DEFINE_ANY(2, 8)
DEFINE_ANY(4, 2)

weave_kernel *weave_avx2(uint32_t size_log, size_t cols)
{
    static weave_kernel *const any[SIZES][4] = {
        {weave_1_2, weave_1_4, weave_1_8, weave_1_16},
        {weave_2_2, weave_2_4, weave_2_8, NULL},
        {weave_4_2, NULL, NULL, NULL},
    };

    return cols == 3 ? weave_3 : any[size_log][cols <= 2 ? 0 : cols <= 4 ? 1 : cols <= 8 ? 2 : 3];
}

TARGET_END

#endif
