/* SPDX-License-Identifier: BSD-3-Clause */
/* Few rows of many columns with AVX2: a picture of a few interleaved channels becomes planes. */
#include "../level.h"

#if LEVEL_HAS_X86

#include <immintrin.h>

#include "narrow_avx2.h"
#include "target.h"

TARGET_BEGIN("avx2")

#include "lanes_avx2.h"

enum { SIZES = 3, FOLDS = 4 };

/* fold[i][j]: of a lane of whole columns of 2^j elements, the elements of a row side by side. */
static uint8_t fold[SIZES][FOLDS][LANE];

/* three[i][row][k]: what lane k of three lanes of columns of three elements gives the row. */
static uint8_t three[SIZES][3][3][LANE];

static void init_size(uint32_t i)
{
    const uint32_t size = 1u << i;

    for (uint32_t b = 0; b < LANE; b++) {
        const uint32_t element = b / size, in_element = b % size;

        for (uint32_t j = 1; j < FOLDS && size << j <= LANE; j++) {
            const uint32_t cols = (uint32_t)LANE / (size << j);

            fold[i][j][b] =
                (uint8_t)((element % cols << j) * size + element / cols * size + in_element);
        }
        for (uint32_t row = 0; row < 3; row++) {
            const uint32_t from = (element * 3 + row) * size + in_element;

            for (uint32_t k = 0; k < 3; k++)
                three[i][row][k][b] = (uint8_t)(from / LANE == k ? from % LANE : 0x80);
        }
    }
}

void narrow_avx2_init(void)
{
    for (uint32_t i = 0; i < SIZES; i++)
        init_size(i);
}

ALWAYS_INLINE __m256i both_lanes(const uint8_t *order)
{
    return _mm256_broadcastsi128_si256(load_1(order));
}

/* Packed columns of 2^log elements: a transpose of what a lane has of each row. */
ALWAYS_INLINE void narrow_power(uint32_t log, uint32_t size_log, uint8_t *dst, size_t dst_step,
                                const uint8_t *src, size_t tiles)
{
    const size_t rows = (size_t)1 << log;
    const __m256i order = both_lanes(fold[size_log][log]);

    for (; tiles > 0; tiles--, src += VEC * rows, dst += VEC) {
        __m256i x[8];

        _Pragma("GCC unroll 8") for (size_t k = 0; k < rows; k++)
        {
            const uint8_t *at = src + k * LANE;

            x[k] = _mm256_shuffle_epi8(load_2(at, at + LANE * rows), order);
        }
        weave_registers(LANE >> log, rows, x);
        _Pragma("GCC unroll 8") for (size_t r = 0; r < rows; r++)
            store_32(dst + r * dst_step, x[r]);
    }
}

#define DEFINE_POWER(rows, log)                                                                    \
    static void narrow_##rows(uint32_t size_log, uint8_t *dst, size_t dst_step,                    \
                              const uint8_t *src, size_t src_step, size_t some, size_t tiles)      \
    {                                                                                              \
        (void)src_step;                                                                            \
        (void)some;                                                                                \
        narrow_power(log, size_log, dst, dst_step, src, tiles);                                    \
    }

DEFINE_POWER(2, 1)
DEFINE_POWER(4, 2)
DEFINE_POWER(8, 3)

/* Packed columns of three elements. */
static void narrow_3(uint32_t size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                     size_t src_step, size_t rows, size_t tiles)
{
    __m256i order[3][3];

    (void)src_step;
    (void)rows;
    _Pragma("GCC unroll 9") for (size_t i = 0; i < 9; i++) order[i / 3][i % 3] =
        both_lanes(three[size_log][i / 3][i % 3]);
    for (; tiles > 0; tiles--, src += VEC * 3, dst += VEC) {
        const __m256i a = load_2(src, src + 3 * LANE), b = load_2(src + LANE, src + 4 * LANE),
                      c = load_2(src + 2 * LANE, src + 5 * LANE);

        _Pragma("GCC unroll 3") for (size_t r = 0; r < 3; r++)
        {
            const __m256i ab = _mm256_or_si256(_mm256_shuffle_epi8(a, order[r][0]),
                                               _mm256_shuffle_epi8(b, order[r][1]));

            store_32(dst + r * dst_step, _mm256_or_si256(ab, _mm256_shuffle_epi8(c, order[r][2])));
        }
    }
}

/* Any columns, of at most `most` rows: 16 bytes of each, of which the last may be others'. */
ALWAYS_INLINE void narrow_any(size_t size, size_t most, uint8_t *dst, size_t dst_step,
                              const uint8_t *src, size_t src_step, size_t rows, size_t tiles)
{
    const size_t cols = LANE / size;

    for (; tiles > 0; tiles--, src += 2 * cols * src_step, dst += VEC) {
        __m256i x[16];

        _Pragma("GCC unroll 16") for (size_t k = 0; k < cols; k++) x[k] =
            load_2(src + k * src_step, src + (k + cols) * src_step);
        weave_registers(size, cols, x);
        _Pragma("GCC unroll 16") for (size_t r = 0; r < most; r++)
        {
            if (r <= most / 2 || r < rows)
                store_32(dst + r * dst_step, x[r]);
        }
    }
}

#define DEFINE_ANY(size, most)                                                                     \
    static void narrow_##size##_##most(uint32_t size_log, uint8_t *dst, size_t dst_step,           \
                                       const uint8_t *src, size_t src_step, size_t rows,           \
                                       size_t tiles)                                               \
    {                                                                                              \
        (void)size_log;                                                                            \
        narrow_any(size, most, dst, dst_step, src, src_step, rows, tiles);                         \
    }

DEFINE_ANY(1, 2)
DEFINE_ANY(1, 4)
DEFINE_ANY(1, 8)
DEFINE_ANY(1, 16)
DEFINE_ANY(2, 2)
DEFINE_ANY(2, 4)
DEFINE_ANY(2, 8)
DEFINE_ANY(4, 2)
DEFINE_ANY(4, 4)

narrow_kernel *narrow_avx2(uint32_t size_log, size_t src_step, size_t rows)
{
    static narrow_kernel *const packed[] = {NULL, NULL, narrow_2, narrow_3, narrow_4,
                                            NULL, NULL, NULL,     narrow_8};
    static narrow_kernel *const any[SIZES][4] = {
        {narrow_1_2, narrow_1_4, narrow_1_8, narrow_1_16},
        {narrow_2_2, narrow_2_4, narrow_2_8, NULL},
        {narrow_4_2, narrow_4_4, NULL, NULL},
    };

    if (src_step == rows << size_log && rows <= 8 && packed[rows])
        return packed[rows];
    return any[size_log][rows <= 2 ? 0 : rows <= 4 ? 1 : rows <= 8 ? 2 : 3];
}

TARGET_END

#endif
