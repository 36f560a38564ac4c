/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pixels of less than 16 bytes to planes, and back, with AVX-512, for any step between pixels. A
 * tile has one cache line of each plane; a pixel is a lane of a register. tile.h explains the
 * transpose of the lanes.
 */
#include "libmli/src/exec/x86/kernels_x86.h"

#if LEVEL_HAS_AVX512

#include <immintrin.h>

#include "libmli/src/exec/tuning.h"

TARGET_BEGIN("avx512f,avx512bw,avx512vl,bmi2,prfchw")

#include "libmli/src/exec/x86/lanes.h"

enum { LINE = 64, LANE = 16, PAGE = 4096 };

#define UNROLL _Pragma("GCC unroll 16")

ALWAYS_INLINE __m512i low(size_t size, __m512i a, __m512i b)
{
    return size == 1   ? _mm512_unpacklo_epi8(a, b)
           : size == 2 ? _mm512_unpacklo_epi16(a, b)
                       : _mm512_unpacklo_epi32(a, b);
}

ALWAYS_INLINE __m512i high(size_t size, __m512i a, __m512i b)
{
    return size == 1   ? _mm512_unpackhi_epi8(a, b)
           : size == 2 ? _mm512_unpackhi_epi16(a, b)
                       : _mm512_unpackhi_epi32(a, b);
}

/* Transposes each lane: element r of register k becomes element k of register r. */
ALWAYS_INLINE void turn(__m512i *x, size_t size)
{
    const size_t half = LANE / size / 2;
    __m512i t[LANE];

    UNROLL for (size_t stage = 1; stage < 2 * half; stage *= 2)
    {
        UNROLL for (size_t i = 0; i < half; i++)
        {
            t[2 * i] = low(size, x[i], x[i + half]);
            t[2 * i + 1] = high(size, x[i], x[i + half]);
        }
        UNROLL for (size_t i = 0; i < 2 * half; i++) x[i] = t[i];
    }
}

/* Loads lane i from pixel `pixel` + i * apart, or from the last pixel if that does not exist. */
ALWAYS_INLINE __m512i load_exact(const struct skinny *t, size_t pixel, size_t apart,
                                 __mmask16 bytes)
{
    __m512i v = _mm512_setzero_si512();

#define INSERT(i)                                                                                  \
    {                                                                                              \
        const size_t at = pixel + (i)*apart < t->cols ? pixel + (i)*apart : t->cols - 1;           \
                                                                                                   \
        v = _mm512_inserti32x4(                                                                    \
            v, _mm_maskz_loadu_epi8(bytes, (const void *)(t->src + at * t->src_step)), i);         \
    }
    INSERT(0)
    INSERT(1)
    INSERT(2)
    INSERT(3)
#undef INSERT
    return v;
}

/* Loads four lanes, if all pixels exist and 16 bytes of each may be read. */
ALWAYS_INLINE __m512i load_whole(const uint8_t *at, size_t apart)
{
    __m512i v = _mm512_castsi128_si512(load_1(at));

    v = _mm512_inserti32x4(v, load_1(at + apart), 1);
    v = _mm512_inserti32x4(v, load_1(at + 2 * apart), 2);
    return _mm512_inserti32x4(v, load_1(at + 3 * apart), 3);
}

/* Moves a tile to planes: up to 64 bytes of each destination row, from column `col` on. */
ALWAYS_INLINE void to_planes(const struct skinny *t, size_t size, size_t col, bool whole)
{
    const size_t high = LANE / size, src_step = t->src_step, ahead = TUNED(avx512_narrow_ahead);
    const uint8_t *from = t->src + col * src_step;
    uint8_t *to = t->dst + col * size;
    __m512i x[LANE];

    UNROLL for (size_t k = 0; k < high; k++) x[k] =
        whole ? load_whole(from + k * src_step, high * src_step)
              : load_exact(t, col + k, high, (__mmask16)first(t->rows * size));
    turn(x, size);
    UNROLL for (size_t r = 0; r < high; r++, to += t->dst_step)
    {
        if (r == t->rows)
            break;
        __builtin_prefetch(to + ahead, 1, 3);
        if (whole)
            _mm512_storeu_si512((void *)to, x[r]);
        else
            _mm512_mask_storeu_epi8((void *)to, first((t->cols - col) * size), x[r]);
    }
}

/*
 * Moves a tile to pixels: interleaves 64 bytes of each of 16 / size columns of the source, from
 * `row` and `col` on. If `whole` is true, the tile has all its rows, and 16 bytes may be written at
 * each pixel. Otherwise only rows and columns that the source has are read and written.
 */
ALWAYS_INLINE void to_pixels(const struct skinny *t, size_t size, size_t row, size_t col,
                             bool whole)
{
    const size_t high = LANE / size, dst_step = t->dst_step, left = t->rows - row;
    const __mmask16 bytes = (__mmask16)first(t->cols * size);
    const uint8_t *from = t->src + col * t->src_step + row * size;
    uint8_t *to = t->dst + row * dst_step + col * size;
    __m512i x[LANE];

    UNROLL for (size_t k = 0; k < high; k++)
    {
        x[k] = _mm512_setzero_si512();
        if (k < t->cols)
            x[k] = _mm512_maskz_loadu_epi8(first(whole ? LINE : left * size),
                                           (const void *)(from + k * t->src_step));
    }
    turn(x, size);
#define STORE_LANE(i)                                                                              \
    UNROLL for (size_t r = 0; r < high; r++, to += dst_step)                                       \
    {                                                                                              \
        const __m128i v = _mm512_extracti32x4_epi32(x[r], i);                                      \
                                                                                                   \
        if (whole)                                                                                 \
            _mm_storeu_si128((void *)to, v);                                                       \
        else if ((i)*high + r < left)                                                              \
            _mm_mask_storeu_epi8((void *)to, bytes, v);                                            \
    }
    STORE_LANE(0)
    STORE_LANE(1)
    STORE_LANE(2)
    STORE_LANE(3)
#undef STORE_LANE
}

/*
 * Moves to pixels of at least one lane. The inner loop runs over columns, so that each cache line
 * of the destination is written completely at once. The last tiles overlap the tiles before them.
 */
ALWAYS_INLINE void to_wide_pixels(const struct skinny *t, size_t size)
{
    const size_t wide = LINE / size, high = LANE / size;

    for (size_t r = 0; r < t->rows; r += wide) {
        const size_t row = t->rows <= wide ? 0 : r + wide <= t->rows ? r : t->rows - wide;

        for (size_t c = 0; c < t->cols; c += high)
            to_pixels(t, size, row, c + high <= t->cols ? c : t->cols - high, t->rows >= wide);
    }
}

/*
 * A tile is moved as `whole` if it is safe to write 16 bytes at each of its pixels: these bytes
 * must end before the last pixel of the move. Between pixels that are far apart there may be pages
 * that cannot be accessed.
 */
#define DEFINE_NARROW(size)                                                                        \
    static void to_planes_##size(const struct skinny *t)                                           \
    {                                                                                              \
        const size_t wide = LINE / (size), margin = LANE / t->src_step + 1;                        \
        const bool whole = t->src_step < PAGE && wide + margin <= t->cols;                         \
        size_t c = 0;                                                                              \
                                                                                                   \
        if (whole) {                                                                               \
            to_planes(t, size, 0, true);                                                           \
            c = wide - (uintptr_t)t->dst % LINE / (size);                                          \
        }                                                                                          \
        for (; whole && c + wide + margin <= t->cols; c += wide)                                   \
            to_planes(t, size, c, true);                                                           \
        for (; c < t->cols; c += wide)                                                             \
            to_planes(t, size, c, false);                                                          \
    }                                                                                              \
                                                                                                   \
    static void to_pixels_##size(const struct skinny *t)                                           \
    {                                                                                              \
        const size_t wide = LINE / (size), margin = LANE / t->dst_step + 1;                        \
        size_t r = 0;                                                                              \
                                                                                                   \
        if (t->cols * (size) >= LANE) {                                                            \
            to_wide_pixels(t, size);                                                               \
            return;                                                                                \
        }                                                                                          \
        if (t->dst_step == t->cols * (size))                                                       \
            for (; r + wide + margin <= t->rows; r += wide)                                        \
                to_pixels(t, size, r, 0, true);                                                    \
        for (; r < t->rows; r += wide)                                                             \
            to_pixels(t, size, r, 0, false);                                                       \
    }

DEFINE_NARROW(1)
DEFINE_NARROW(2)
DEFINE_NARROW(4)

bool narrow_avx512(const struct skinny *t)
{
    static void (*const planes[])(const struct skinny *) = {to_planes_1, to_planes_2, to_planes_4};
    static void (*const pixels[])(const struct skinny *) = {to_pixels_1, to_pixels_2, to_pixels_4};
    const size_t rows = t->rows << t->size_log, cols = t->cols << t->size_log;

    if (t->size_log > 2)
        return false;
    if (cols >= (rows < LANE ? LANE : 4 * LINE) && rows <= LANE && t->src_step > 0)
        planes[t->size_log](t);
    else if (rows >= LANE && (cols < LANE || (cols < 2 * LANE && rows > LANE)))
        pixels[t->size_log](t);
    else
        return false;
    return true;
}

TARGET_END

#endif
