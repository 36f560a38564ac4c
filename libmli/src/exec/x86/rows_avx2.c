/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows with AVX2. AVX2 has no masks for bytes: a row is moved as two overlapping pieces of equal
 * size, or in a loop with a last piece that overlaps the one before.
 */
#include "libmli/src/exec/x86/kernels_x86.h"

#if LEVEL_HAS_X86

#include <immintrin.h>

#include "libmli/src/builtins.h"
#include "libmli/src/exec/copy.h"
#include "libmli/src/exec/tuning.h"

TARGET_BEGIN("avx2,prfchw")

#include "libmli/src/exec/x86/lanes_avx2.h"

/* copy_N copies runs of N to 2 * N bytes. */
ALWAYS_INLINE void copy_32(uint8_t *to, const uint8_t *from, size_t run)
{
    const __m256i head = load_32(from), tail = load_32(from + run - VEC);

    store_32(to, head);
    store_32(to + run - VEC, tail);
}

ALWAYS_INLINE void copy_64(uint8_t *to, const uint8_t *from, size_t run)
{
    copy_32(to, from, TUNE_LINE);
    copy_32(to + run - TUNE_LINE, from + run - TUNE_LINE, TUNE_LINE);
}

/*
 * Stores that split a cache line take twice as long, so all stores but the first and the last are
 * aligned.
 */
ALWAYS_INLINE void copy_128(uint8_t *to, const uint8_t *from, size_t run)
{
    const __m256i head = load_32(from), a = load_32(from + run - TUNE_LINE),
                  b = load_32(from + run - VEC);

    for (size_t i = -(uintptr_t)to % VEC; i < run - TUNE_LINE; i += TUNE_LINE)
        copy_32(to + i, from + i, TUNE_LINE);
    store_32(to, head);
    store_32(to + run - TUNE_LINE, a);
    store_32(to + run - VEC, b);
}

ALWAYS_INLINE void copy_1024(uint8_t *to, const uint8_t *from, size_t run)
{
    if (copy_is_slow(to, from))
        copy_128(to, from, run);
    else
        copy_bytes(to, from, run);
}

/* A separate loop for each size of piece. */
#define FOR_RUN(run, ROWS_WITH) PIECE_FOR_RUN(run, ROWS_WITH) FOR_LONG_RUN(run, ROWS_WITH)

#define FOR_LONG_RUN(run, ROWS_WITH)                                                               \
    if ((run) <= TUNE_LINE)                                                                        \
        ROWS_WITH(copy_32)                                                                         \
    else if ((run) <= 2 * TUNE_LINE)                                                               \
        ROWS_WITH(copy_64)                                                                         \
    else if ((run) < TUNE_AVX2_CALL_MIN)                                                           \
        ROWS_WITH(copy_128)                                                                        \
    else                                                                                           \
        ROWS_WITH(copy_1024)

void rows_avx2(const struct leaf_nest *nest, size_t run)
{
#define ROWS_WITH(copy) NEST_FOR_ROWS(nest, to, from, { copy(to, from, run); })
    if (run < VEC)
        rows_c(nest, run);
    else if (run == VEC)
        NEST_FOR_ROWS(nest, to, from, { store_32(to, load_32(from)); })
    else
        FOR_LONG_RUN(run, ROWS_WITH)
#undef ROWS_WITH
}

/* Zeroes at least VEC bytes. */
ALWAYS_INLINE void zero_long(uint8_t *to, size_t bytes)
{
    store_32(to, _mm256_setzero_si256());
    for (size_t i = VEC - (uintptr_t)to % VEC; i + VEC < bytes; i += VEC)
        store_32(to + i, _mm256_setzero_si256());
    store_32(to + bytes - VEC, _mm256_setzero_si256());
}

static inline void zero(uint8_t *to, size_t bytes)
{
    if (bytes >= VEC) {
        zero_long(to, bytes);
    } else if (bytes >= 16) {
        store_16(to, _mm_setzero_si128());
        store_16(to + bytes - 16, _mm_setzero_si128());
    } else if (bytes >= 4) {
        zero_bytes(to, 4);
        zero_bytes(to + bytes / 8 * 4, 4);
        zero_bytes(to + bytes - 4 - bytes / 8 * 4, 4);
        zero_bytes(to + bytes - 4, 4);
    } else {
        for (size_t i = 0; i < bytes; i++)
            to[i] = 0;
    }
}

/* Moves rows without writing to any byte outside them, so that rows may lie anywhere. */
static void bordered_exact(const struct leaf_nest *nest, const struct leaf_border *border)
{
    const size_t run = border->run;

#define ROWS_WITH(copy)                                                                            \
    NEST_FOR_ROWS(nest, to, from, {                                                                \
        zero(to, border->before);                                                                  \
        copy(to + border->before, from, run);                                                      \
        zero(to + border->before + run, border->after);                                            \
    })
    FOR_RUN(run, ROWS_WITH)
#undef ROWS_WITH
}

/*
 * Moves one loop of packed rows. One store writes the zeros between two runs, and its excess is
 * overwritten by the next run. The last rows have no next run, so they are moved exactly.
 */
static void bordered_packed(struct leaf_nest nest, const struct leaf_border *border)
{
    const size_t run = border->run, row = border->before + run + border->after;
    const size_t exact = border->after < VEC ? (VEC - border->after + row - 1) / row : 0;
    const size_t quick = nest.inner.count > exact ? nest.inner.count - exact : 0;
    const __m256i zeros = _mm256_setzero_si256();
    uint8_t *to = nest.dst + border->before;
    const uint8_t *from = nest.src;

    zero(nest.dst, border->before);
#define ROWS_WITH(copy)                                                                            \
    for (size_t i = 0; i < quick; i++, to += row, from += nest.inner.src_step) {                   \
        copy(to, from, run);                                                                       \
        store_32(to + run, zeros);                                                                 \
    }
    FOR_RUN(run, ROWS_WITH)
#undef ROWS_WITH
    nest.dst += quick * row;
    nest.src = from;
    nest.inner.count -= quick;
    if (nest.inner.count > 0)
        bordered_exact(&nest, border);
}

void bordered_avx2(const struct leaf_nest *nest, const struct leaf_border *border)
{
    const size_t row = border->before + border->run + border->after;
    struct leaf_nest one = *nest;

    if (nest->inner.count == 1 || nest->inner.dst_step != row ||
        border->before + border->after > VEC) {
        bordered_exact(nest, border);
        return;
    }
    one.outer.count = 1;
    for (size_t i = 0; i < nest->outer.count; i++) {
        bordered_packed(one, border);
        one.dst += nest->outer.dst_step;
        one.src += nest->outer.src_step;
    }
}

void fill_avx2(uint8_t *dst, size_t step, size_t run, size_t count)
{
    if (run < VEC || run > TUNE_LINE) {
        fill_c(dst, step, run, count);
        return;
    }
    for (; count > 0; count--, dst += step) {
        store_32(dst, _mm256_setzero_si256());
        store_32(dst + run - VEC, _mm256_setzero_si256());
    }
}

void stream_avx2(uint8_t *dst, const uint8_t *src, size_t bytes)
{
    const size_t head = -(uintptr_t)dst % TUNE_LINE;

    if (bytes < head + TUNE_LINE) {
        copy_bytes(dst, src, bytes);
        return;
    }
    copy_bytes(dst, src, head);
    for (dst += head, src += head, bytes -= head; bytes >= TUNE_LINE; bytes -= TUNE_LINE) {
        const __m256i a = load_32(src), b = load_32(src + VEC);

        _mm256_stream_si256((__m256i *)(void *)dst, a);
        _mm256_stream_si256((__m256i *)(void *)(dst + VEC), b);
        dst += TUNE_LINE;
        src += TUNE_LINE;
    }
    copy_bytes(dst, src, bytes);
}

void fence_x86(void)
{
    _mm_sfence();
}

TARGET_END

#endif
