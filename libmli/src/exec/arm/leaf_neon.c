/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaf kernels with NEON, which every AArch64 processor has. There is no stream: stnp, the store of
 * a pair that need not be kept in the caches, is a hint that few processors use.
 */
#include "libmli/src/exec/leaf.h"

#if LEVEL_HAS_NEON

#include <arm_neon.h>

#include "libmli/src/builtins.h"
#include "libmli/src/exec/tile_block.h"
#include "libmli/src/exec/tuning.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/*
 * Copies rows in registers of 16 bytes. The last register overlaps the one before, so that no store
 * exceeds the row. Stores that extend into the next packed row would save nothing: NEON has no
 * masked loads, so a row needs as many loads as stores.
 */

enum {
    PIECE = 16,
    /* Maximum number of pieces of a row that is loaded completely before it is stored. */
    PIECES_MAX = 8,
};

/* Copies a row of more than `pieces - 1` pieces. */
ALWAYS_INLINE void copy_pieces(uint8_t *to, const uint8_t *from, size_t run, size_t pieces)
{
    const size_t last = run - PIECE;
    uint8x16_t v[PIECES_MAX];

    _Pragma("GCC unroll 8") for (size_t i = 0; i < pieces; i++) v[i] =
        vld1q_u8(from + (i + 1 < pieces ? i * PIECE : last));
    _Pragma("GCC unroll 8") for (size_t i = 0; i < pieces; i++)
        vst1q_u8(to + (i + 1 < pieces ? i * PIECE : last), v[i]);
}

/* Copies a row of at least four pieces. */
ALWAYS_INLINE void copy_long(uint8_t *to, const uint8_t *from, size_t run)
{
    for (size_t i = 0; i + 4 * PIECE < run; i += 4 * PIECE)
        vst1q_u8_x4(to + i, vld1q_u8_x4(from + i));
    vst1q_u8_x4(to + run - 4 * PIECE, vld1q_u8_x4(from + run - 4 * PIECE));
}

#define ROWS_OF(pieces) NEST_FOR_ROWS(nest, to, from, { copy_pieces(to, from, run, pieces); })

static void rows_neon(const struct leaf_nest *nest, size_t run)
{
    const size_t pieces = (run + PIECE - 1) / PIECE;

    if (pieces == 3)
        ROWS_OF(3)
    else if (pieces == 5)
        ROWS_OF(5)
    else if (pieces == 6)
        ROWS_OF(6)
    else if (pieces == 7)
        ROWS_OF(7)
    else if (pieces == 8)
        ROWS_OF(8)
    else if (pieces > 8 && run < TUNE_NEON_CALL_MIN)
        NEST_FOR_ROWS(nest, to, from, { copy_long(to, from, run); })
    else
        rows_c(nest, run);
}

/* Copies a run of `size` to 2 * `size` bytes as two pieces of `size` bytes, which may overlap. */
#define COPY_TWICE(size)                                                                           \
    do {                                                                                           \
        copy_bytes(to, from, size);                                                                \
        copy_bytes(to + run - (size), from + run - (size), size);                                  \
    } while (0)

ALWAYS_INLINE void copy_run(uint8_t *to, const uint8_t *from, size_t run)
{
    if (run >= TUNE_NEON_CALL_MIN)
        copy_bytes(to, from, run);
    else if (run >= 4 * PIECE)
        copy_long(to, from, run);
    else if (run > 2 * PIECE)
        COPY_TWICE(2 * PIECE);
    else if (run >= PIECE)
        COPY_TWICE(PIECE);
    else if (run >= 8)
        COPY_TWICE(8);
    else if (run >= 4)
        COPY_TWICE(4);
    else if (run >= 2)
        COPY_TWICE(2);
    else
        *to = *from;
}

/*
 * Zeroes bytes `begin` to `end` of a row, and may change its other bytes. The row must have at
 * least PIECE bytes.
 */
ALWAYS_INLINE void zero_in_row(uint8_t *row, size_t begin, size_t end)
{
    const uint8x16_t zero = vdupq_n_u8(0);

    for (; begin + PIECE < end; begin += PIECE)
        vst1q_u8(row + begin, zero);
    if (begin < end)
        vst1q_u8(row + (end > PIECE ? end - PIECE : 0), zero);
}

/* Writes the zeros of a row in whole vectors, which may reach into the run. Then copies the run. */
static void bordered_neon(const struct leaf_nest *nest, const struct leaf_border *border)
{
    const size_t before = border->before, run = border->run, row = before + run + border->after;

    if (row < PIECE || before >= TUNE_NEON_CALL_MIN || border->after >= TUNE_NEON_CALL_MIN) {
        bordered_c(nest, border);
        return;
    }
    NEST_FOR_ROWS(nest, to, from, {
        zero_in_row(to, 0, before);
        zero_in_row(to, before + run, row);
        copy_run(to + before, from, run);
    })
}

static void fill_neon(uint8_t *dst, size_t step, size_t run, size_t count)
{
    if (run <= 4 * PIECE || run >= TUNE_NEON_CALL_MIN) {
        fill_c(dst, step, run, count);
        return;
    }
    for (size_t i = 0; i < count; i++, dst += step)
        zero_in_row(dst, 0, run);
}

/*
 * ld2 .. ld4 distribute consecutive elements over as many registers; st2 .. st4 interleave
 * registers.
 *
 * A group is what one ld distributes. The last group of a row may extend past the last element of
 * the source, so the last load is moved back until it ends with the last wanted element. The wanted
 * elements are then the last of each group. The bytes before them are inside the source.
 */

/* Registers of bytes, which can be stored to any address. */
typedef uint8x8_t bytes;
typedef uint8x16_t bytesq;

/*
 * The source has groups of `spread` elements. Moves the first `rows` elements of N groups, where N
 * is the number of elements in a register: element r of each group goes to row dst + r * dst_step.
 * `Q` and `bits` name the instructions. If rows < spread, there must be more than N groups, because
 * the loads also read the last elements of a group.
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

/* Interleaves `spread` columns to packed rows. There must be at least N rows. */
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
    static bool unzip_##name(const struct leaf_nest *nest, size_t spread, size_t cols)             \
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

static bool unzip_rows(unsigned size_log, const struct leaf_nest *nest, size_t step, size_t cols)
{
    const size_t spread = step >> size_log;

    if (spread << size_log != step)
        return false;
    switch (size_log) {
    case 0:
        return unzip_1(nest, spread, cols) || unzip_1_half(nest, spread, cols);
    case 1:
        return unzip_2(nest, spread, cols) || unzip_2_half(nest, spread, cols);
    case 2:
        return unzip_4(nest, spread, cols) || unzip_4_half(nest, spread, cols);
    default:
        return unzip_8(nest, spread, cols);
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

static bool zip_transpose(unsigned size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                          size_t src_step, size_t rows, size_t cols)
{
    const size_t spread = src_step >> size_log;

    if (dst_step == cols << size_log && few_cols(size_log, dst, src, src_step, rows, cols))
        return true;
    return spread << size_log == src_step &&
           few_rows(size_log, dst, dst_step, src, spread, rows, cols);
}

/* Transposes in tiles, and the table of all NEON kernels. */

/* Interleaves the elements of the low (1) or high (2) halves of two registers. */
#define ZIP(half, bits, a, b)                                                                      \
    vreinterpretq_u8_u##bits(                                                                      \
        vzip##half##q_u##bits(vreinterpretq_u##bits##_u8(a), vreinterpretq_u##bits##_u8(b)))

#define LANES                           1
#define VEC                             uint8x16_t
#define VEC_LOAD(at, step)              vld1q_u8(at)
#define VEC_LOAD_AT(base, offset, step) vld1q_u8((base) + *(offset))
#define VEC_STORE(at, v)                vst1q_u8((at), (v))
#define VEC_LOW_1(a, b)                 vzip1q_u8((a), (b))
#define VEC_HIGH_1(a, b)                vzip2q_u8((a), (b))
#define VEC_LOW_2(a, b)                 ZIP(1, 16, a, b)
#define VEC_HIGH_2(a, b)                ZIP(2, 16, a, b)
#define VEC_LOW_4(a, b)                 ZIP(1, 32, a, b)
#define VEC_HIGH_4(a, b)                ZIP(2, 32, a, b)
#define VEC_LOW_8(a, b)                 ZIP(1, 64, a, b)
#define VEC_HIGH_8(a, b)                ZIP(2, 64, a, b)
#define TILE_NAME(name)                 name##_by_1

#include "libmli/src/exec/tile.h"

#define DEFINE_KERNELS(E, index)                                                                   \
    static void transpose_##E(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,  \
                              size_t rows, size_t cols)                                            \
    {                                                                                              \
        if (zip_transpose(index, dst, dst_step, src, src_step, rows, cols))                        \
            return;                                                                                \
        if (rows < 16 / (E) || cols < 16 / (E))                                                    \
            transpose_c_##E(dst, dst_step, src, src_step, rows, cols);                             \
        else                                                                                       \
            tiles_##E##_by_1(dst, dst_step, src, src_step, rows, cols);                            \
    }                                                                                              \
                                                                                                   \
    static void transpose_at_##E(uint8_t *dst, const size_t *dst_at, const uint8_t *src,           \
                                 const size_t *src_at, size_t rows, size_t cols)                   \
    {                                                                                              \
        if (rows < 16 / (E) || cols < 16 / (E))                                                    \
            transpose_at_c_##E(dst, dst_at, src, src_at, rows, cols);                              \
        else                                                                                       \
            tiles_at_##E##_by_1(dst, dst_at, src, src_at, rows, cols);                             \
    }                                                                                              \
                                                                                                   \
    static void gather_##E(const struct leaf_nest *nest, size_t step, size_t cols)                 \
    {                                                                                              \
        if (!unzip_rows(index, nest, step, cols))                                                  \
            gather_c_##E(nest, step, cols);                                                        \
    }

DEFINE_KERNELS(1, 0)
DEFINE_KERNELS(2, 1)
DEFINE_KERNELS(4, 2)
DEFINE_KERNELS(8, 3)

void level_neon(struct leaf_table *table)
{
    static leaf_gather *const gather[] = {gather_1, gather_2, gather_4, gather_8};
    static leaf_transpose *const transpose[] = {transpose_1, transpose_2, transpose_4, transpose_8};
    static leaf_transpose_at *const transpose_at[] = {transpose_at_1, transpose_at_2,
                                                      transpose_at_4, transpose_at_8};

    table->name = "neon";
    table->rows = rows_neon;
    table->bordered = bordered_neon;
    table->fill = fill_neon;
    table->small_panels = false;
    for (int i = 0; i < 4; i++) {
        table->gather[i] = gather[i];
        table->transpose[i] = transpose[i];
        table->transpose_at[i] = transpose_at[i];
    }
}

#endif
