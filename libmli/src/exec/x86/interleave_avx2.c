/* SPDX-License-Identifier: BSD-3-Clause */
/* Interleaves a few planes into pixels with AVX2: transposes with many rows and few columns. */
#include "libmli/src/exec/level.h"

#if LEVEL_HAS_X86

#include <immintrin.h>

#include "libmli/src/exec/x86/kernels_avx2.h"
#include "libmli/src/exec/x86/target.h"

TARGET_BEGIN("avx2,prfchw")

#include "libmli/src/exec/x86/lanes_avx2.h"

enum { SIZES = 3 };

/*
 * three[i][k][col] is the shuffle of a lane of column `col` for lane k of the three result lanes.
 */
static uint8_t three[SIZES][3][3][LANE];

void interleave_avx2_init(void)
{
    for (uint32_t at = 0; at < SIZES * 3 * LANE; at++) {
        const uint32_t i = at / (3 * LANE), to = at % (3 * LANE), element = to >> i;
        const uint32_t in_element = to & ((1u << i) - 1);

        for (uint32_t col = 0; col < 3; col++)
            three[i][to / LANE][col][to % LANE] =
                (uint8_t)(element % 3 == col ? (element / 3 << i) + in_element : 0x80);
    }
}

struct interleave {
    uint32_t size_log;
    uint8_t *dst;
    const uint8_t *src;
    size_t src_step, rows, cols;
};

/*
 * Returns 16 bytes of a column from `low` on, and 16 bytes from `high` on. Except for the last
 * tiles, high is low + 16.
 */
ALWAYS_INLINE __m256i load_column(const struct interleave *w, size_t col, size_t low, size_t high,
                                  bool is_last)
{
    const uint8_t *at = w->src + col * w->src_step;

    return is_last ? load_2(at + low, at + high) : load_32(at + low);
}

ALWAYS_INLINE void tile_3(const struct interleave *w, __m256i order[3][3], size_t low, size_t high,
                          bool is_last)
{
    const __m256i a = load_column(w, 0, low, high, is_last),
                  b = load_column(w, 1, low, high, is_last),
                  c = load_column(w, 2, low, high, is_last);

    _Pragma("GCC unroll 3") for (size_t k = 0; k < 3; k++)
    {
        const __m256i ab = _mm256_or_si256(_mm256_shuffle_epi8(a, order[k][0]),
                                           _mm256_shuffle_epi8(b, order[k][1]));
        const __m256i abc = _mm256_or_si256(ab, _mm256_shuffle_epi8(c, order[k][2]));

        store_16(w->dst + low * 3 + k * LANE, _mm256_castsi256_si128(abc));
        store_16(w->dst + high * 3 + k * LANE, _mm256_extracti128_si256(abc, 1));
    }
}

/*
 * Stores the first `bytes` of a lane, at least 8. If it is not the last tile, may also write the
 * bytes after them.
 */
ALWAYS_INLINE void store_part(uint8_t *at, __m128i v, size_t bytes, bool is_last)
{
    if (!is_last || bytes == LANE) {
        store_16(at, v);
        return;
    }
    _mm_storel_epi64((__m128i *)(void *)at, v);
    _mm_storel_epi64((__m128i *)(void *)(at + bytes - 8), slide(v, bytes - 8));
}

/*
 * Moves up to `most` columns, a power of two; registers of missing columns have any value. A lane
 * of the result holds as many rows of `most` elements as fit. If two rows of 8 bytes fit, a shuffle
 * closes the gap between them.
 */
ALWAYS_INLINE void tile_any(size_t size, size_t most, const struct interleave *w, size_t low,
                            size_t high, bool is_last)
{
    const size_t room = most * size, row = w->cols * size, part = LANE / room * row;
    const __m256i place = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0,
                                           1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m256i push = _mm256_add_epi8(
        place, _mm256_and_si256(_mm256_cmpgt_epi8(place, _mm256_set1_epi8((char)(row - 1))),
                                _mm256_set1_epi8((char)(room - row))));
    uint8_t *to_low = w->dst + low * w->cols, *to_high = w->dst + high * w->cols;
    __m256i x[16];

    _Pragma("GCC unroll 16") for (size_t k = 0; k < most; k++)
    {
        x[k] = x[0];
        if (k <= most / 2 || k < w->cols)
            x[k] = load_column(w, k, low, high, is_last);
    }
    interleave_registers(size, most, x);
    _Pragma("GCC unroll 16") for (size_t k = 0; k < most; k++)
    {
        if (room == 8 && part < LANE)
            x[k] = _mm256_shuffle_epi8(x[k], push);
        store_part(to_low + k * part, _mm256_castsi256_si128(x[k]), part, is_last);
    }
    _Pragma("GCC unroll 16") for (size_t k = 0; k < most; k++)
        store_part(to_high + k * part, _mm256_extracti128_si256(x[k], 1), part, is_last);
}

/*
 * Runs TILE for tiles of 32 bytes of every column. All tiles but the last are followed by at least
 * 16 bytes of rows. The last tile overlaps the tile before; if there is only one tile, with less
 * than 32 bytes, its lanes overlap.
 */
#define FOR_TILES(w, TILE, low, high)                                                              \
    {                                                                                              \
        const size_t bytes = (w)->rows << (w)->size_log;                                           \
        size_t at = 0;                                                                             \
                                                                                                   \
        for (size_t low, high; at + VEC + LANE <= bytes; at += VEC) {                              \
            low = at;                                                                              \
            high = at + LANE;                                                                      \
            TILE(false);                                                                           \
        }                                                                                          \
        for (size_t low, high; at < bytes; at += VEC) {                                            \
            low = at + VEC <= bytes ? at : bytes < VEC ? 0 : bytes - VEC;                          \
            high = bytes < VEC ? bytes - LANE : low + LANE;                                        \
            TILE(true);                                                                            \
        }                                                                                          \
    }

typedef void interleave_kernel(const struct interleave *interleave);

static void interleave_3(const struct interleave *interleave)
{
    const struct interleave w = *interleave;
    __m256i order[3][3];

    _Pragma("GCC unroll 9") for (size_t i = 0; i < 9; i++) order[i / 3][i % 3] =
        both_lanes(three[w.size_log][i / 3][i % 3]);
#define TILE(is_last) tile_3(&w, order, low, high, is_last)
    FOR_TILES(&w, TILE, low, high)
#undef TILE
}

#define DEFINE_INTERLEAVE(name, size, most, columns)                                               \
    static void interleave_##name(const struct interleave *interleave)                             \
    {                                                                                              \
        const struct interleave w = {interleave->size_log, interleave->dst,  interleave->src,      \
                                     interleave->src_step, interleave->rows, columns};             \
                                                                                                   \
        FOR_TILES(&w, TILE_##size##_##most, low, high)                                             \
    }

#define TILE_1_2(is_last)  tile_any(1, 2, &w, low, high, is_last)
#define TILE_1_4(is_last)  tile_any(1, 4, &w, low, high, is_last)
#define TILE_1_8(is_last)  tile_any(1, 8, &w, low, high, is_last)
#define TILE_1_16(is_last) tile_any(1, 16, &w, low, high, is_last)
#define TILE_2_2(is_last)  tile_any(2, 2, &w, low, high, is_last)
#define TILE_2_4(is_last)  tile_any(2, 4, &w, low, high, is_last)
#define TILE_2_8(is_last)  tile_any(2, 8, &w, low, high, is_last)
#define TILE_4_2(is_last)  tile_any(4, 2, &w, low, high, is_last)

DEFINE_INTERLEAVE(1_2, 1, 2, 2)
DEFINE_INTERLEAVE(1_4, 1, 4, 4)
DEFINE_INTERLEAVE(1_8, 1, 8, 8)
DEFINE_INTERLEAVE(1_to_8, 1, 8, interleave->cols)
DEFINE_INTERLEAVE(1_to_16, 1, 16, interleave->cols)
DEFINE_INTERLEAVE(2_2, 2, 2, 2)
DEFINE_INTERLEAVE(2_4, 2, 4, 4)
DEFINE_INTERLEAVE(2_to_8, 2, 8, interleave->cols)
DEFINE_INTERLEAVE(4_2, 4, 2, 2)

void interleave_avx2(uint32_t size_log, uint8_t *dst, const uint8_t *src, size_t src_step,
                     size_t rows, size_t cols)
{
    static interleave_kernel *const of[SIZES][9] = {
        {NULL, NULL, interleave_1_2, interleave_3, interleave_1_4, interleave_1_to_8,
         interleave_1_to_8, interleave_1_to_8, interleave_1_8},
        {NULL, NULL, interleave_2_2, interleave_3, interleave_2_4, interleave_2_to_8,
         interleave_2_to_8, interleave_2_to_8, NULL},
        {NULL, NULL, interleave_4_2, interleave_3, NULL, NULL, NULL, NULL, NULL},
    };

    (cols > 8 ? interleave_1_to_16
              : of[size_log][cols])(&(struct interleave){size_log, dst, src, src_step, rows, cols});
}

TARGET_END

#endif
