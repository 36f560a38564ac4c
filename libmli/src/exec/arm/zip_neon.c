/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ld2 .. ld4 distribute consecutive elements over as many registers; st2 .. st4 interleave
 * registers.
 *
 * A group is what one ld distributes. The last group of a row may extend past the last element of
 * the source, so the last load is moved back until it ends with the last wanted element. The wanted
 * elements are then the last of each group. The bytes before them are inside the source.
 */
#include "libmli/src/exec/level.h"

#if LEVEL_HAS_NEON

#include <arm_neon.h>

#include "libmli/src/exec/arm/kernels_neon.h"
#include "libmli/src/exec/nest.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Registers of bytes, which can be stored to any address. */
typedef uint8x8_t bytes;
typedef uint8x16_t bytesq;

/*
 * Moves the first `rows` elements of each group of `spread`: row r goes to dst + r * dst_step. `Q`,
 * `bits` and N (elements of a register) name the instructions. There are more than N groups, or N
 * groups without unwanted elements.
 */
#define UNZIP_BLOCK(Q, bits, E, spread, c, skip)                                                   \
    do {                                                                                           \
        const __auto_type v =                                                                      \
            vld##spread##Q##_u##bits((const void *)(src + ((c) * (spread) - (skip)) * (E)));       \
                                                                                                   \
        _Pragma("GCC unroll 4") for (size_t r = 0; r < rows; r++)                                  \
            vst1##Q##_u8(dst + r * dst_step + (c) * (E), (bytes##Q)v.val[(skip) + r]);             \
    } while (0)

#define DEFINE_UNZIP(name, Q, bits, E, N, spread)                                                  \
    ALWAYS_INLINE void unzip##spread##_##name(uint8_t *dst, size_t dst_step, const uint8_t *src,   \
                                              size_t rows, size_t cols)                            \
    {                                                                                              \
        for (size_t c = 0; c + (N) < cols; c += (N))                                               \
            UNZIP_BLOCK(Q, bits, E, spread, c, 0);                                                 \
        UNZIP_BLOCK(Q, bits, E, spread, cols - (N), (spread)-rows);                                \
    }

/* Moves `spread` columns of at least N rows to packed rows. */
#define ZIP_BLOCK(Q, bits, E, N, spread, r)                                                        \
    do {                                                                                           \
        uint##bits##x##N##x##spread##_t v;                                                         \
                                                                                                   \
        _Pragma("GCC unroll 4") for (size_t c = 0; c < (spread); c++) v.val[c] =                   \
            (uint##bits##x##N##_t)vld1##Q##_u8(src + c * src_step + (r) * (E));                    \
        vst##spread##Q##_u##bits((void *)(dst + (r) * (spread) * (E)), v);                         \
    } while (0)

#define DEFINE_ZIP(name, Q, bits, E, N, spread)                                                    \
    static void zip##spread##_##name(uint8_t *dst, const uint8_t *src, size_t src_step,            \
                                     size_t rows)                                                  \
    {                                                                                              \
        for (size_t r = 0; r + (N) < rows; r += (N))                                               \
            ZIP_BLOCK(Q, bits, E, N, spread, r);                                                   \
        ZIP_BLOCK(Q, bits, E, N, spread, rows - (N));                                              \
    }

/* Defines the functions that do a complete transpose or gather. */
#define DEFINE_TRANSPOSES(name, Q, bits, E, N)                                                     \
    DEFINE_UNZIP(name, Q, bits, E, N, 2)                                                           \
    DEFINE_UNZIP(name, Q, bits, E, N, 3)                                                           \
    DEFINE_UNZIP(name, Q, bits, E, N, 4)                                                           \
    DEFINE_ZIP(name, Q, bits, E, N, 2)                                                             \
    DEFINE_ZIP(name, Q, bits, E, N, 3)                                                             \
    DEFINE_ZIP(name, Q, bits, E, N, 4)                                                             \
                                                                                                   \
    static bool gather_##name(const struct leaf_nest *nest, size_t spread, size_t cols)            \
    {                                                                                              \
        if (cols <= (N) || spread < 2 || spread > 4)                                               \
            return false;                                                                          \
        if (spread == 2)                                                                           \
            NEST_FOR_ROWS(nest, to, from, { unzip2_##name(to, 0, from, 1, cols); })                \
        else if (spread == 3)                                                                      \
            NEST_FOR_ROWS(nest, to, from, { unzip3_##name(to, 0, from, 1, cols); })                \
        else                                                                                       \
            NEST_FOR_ROWS(nest, to, from, { unzip4_##name(to, 0, from, 1, cols); })                \
        return true;                                                                               \
    }                                                                                              \
                                                                                                   \
    static bool few_rows_##name(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t spread,  \
                                size_t rows, size_t cols)                                          \
    {                                                                                              \
        if (rows > spread || cols < (N) + (rows < spread))                                         \
            return false;                                                                          \
        if (spread == 2 && rows == 2)                                                              \
            unzip2_##name(dst, dst_step, src, 2, cols);                                            \
        else if (spread == 3 && rows == 2)                                                         \
            unzip3_##name(dst, dst_step, src, 2, cols);                                            \
        else if (spread == 3 && rows == 3)                                                         \
            unzip3_##name(dst, dst_step, src, 3, cols);                                            \
        else if (spread == 4 && rows == 2)                                                         \
            unzip4_##name(dst, dst_step, src, 2, cols);                                            \
        else if (spread == 4 && rows == 3)                                                         \
            unzip4_##name(dst, dst_step, src, 3, cols);                                            \
        else if (spread == 4 && rows == 4)                                                         \
            unzip4_##name(dst, dst_step, src, 4, cols);                                            \
        else                                                                                       \
            return false;                                                                          \
        return true;                                                                               \
    }                                                                                              \
                                                                                                   \
    static bool few_cols_##name(uint8_t *dst, const uint8_t *src, size_t src_step, size_t rows,    \
                                size_t cols)                                                       \
    {                                                                                              \
        if (rows < (N) || cols < 2 || cols > 4)                                                    \
            return false;                                                                          \
        if (cols == 2)                                                                             \
            zip2_##name(dst, src, src_step, rows);                                                 \
        else if (cols == 3)                                                                        \
            zip3_##name(dst, src, src_step, rows);                                                 \
        else                                                                                       \
            zip4_##name(dst, src, src_step, rows);                                                 \
        return true;                                                                               \
    }

/* Functions for registers of 16 bytes; and for registers of 8 bytes, for shorter rows. */
DEFINE_TRANSPOSES(1, q, 8, 1, 16)
DEFINE_TRANSPOSES(1_half, , 8, 1, 8)
DEFINE_TRANSPOSES(2, q, 16, 2, 8)
DEFINE_TRANSPOSES(2_half, , 16, 2, 4)
DEFINE_TRANSPOSES(4, q, 32, 4, 4)
DEFINE_TRANSPOSES(4_half, , 32, 4, 2)
DEFINE_TRANSPOSES(8, q, 64, 8, 2)

bool zip_neon_gather(unsigned size_log, const struct leaf_nest *nest, size_t step, size_t cols)
{
    const size_t spread = step >> size_log;

    if (spread << size_log != step)
        return false;
    switch (size_log) {
    case 0:
        return gather_1(nest, spread, cols) || gather_1_half(nest, spread, cols);
    case 1:
        return gather_2(nest, spread, cols) || gather_2_half(nest, spread, cols);
    case 2:
        return gather_4(nest, spread, cols) || gather_4_half(nest, spread, cols);
    default:
        return gather_8(nest, spread, cols);
    }
}

static bool few_rows(unsigned size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                     size_t spread, size_t rows, size_t cols)
{
    switch (size_log) {
    case 0:
        return few_rows_1(dst, dst_step, src, spread, rows, cols) ||
               few_rows_1_half(dst, dst_step, src, spread, rows, cols);
    case 1:
        return few_rows_2(dst, dst_step, src, spread, rows, cols) ||
               few_rows_2_half(dst, dst_step, src, spread, rows, cols);
    case 2:
        return few_rows_4(dst, dst_step, src, spread, rows, cols) ||
               few_rows_4_half(dst, dst_step, src, spread, rows, cols);
    default:
        return few_rows_8(dst, dst_step, src, spread, rows, cols);
    }
}

static bool few_cols(unsigned size_log, uint8_t *dst, const uint8_t *src, size_t src_step,
                     size_t rows, size_t cols)
{
    switch (size_log) {
    case 0:
        return few_cols_1(dst, src, src_step, rows, cols) ||
               few_cols_1_half(dst, src, src_step, rows, cols);
    case 1:
        return few_cols_2(dst, src, src_step, rows, cols) ||
               few_cols_2_half(dst, src, src_step, rows, cols);
    case 2:
        return few_cols_4(dst, src, src_step, rows, cols) ||
               few_cols_4_half(dst, src, src_step, rows, cols);
    default:
        return few_cols_8(dst, src, src_step, rows, cols);
    }
}

bool zip_neon_transpose(unsigned size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                        size_t src_step, size_t rows, size_t cols)
{
    const size_t spread = src_step >> size_log;

    if (dst_step == cols << size_log && few_cols(size_log, dst, src, src_step, rows, cols))
        return true;
    return spread << size_log == src_step &&
           few_rows(size_log, dst, dst_step, src, spread, rows, cols);
}

#endif
