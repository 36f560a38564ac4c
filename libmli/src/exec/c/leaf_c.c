/* SPDX-License-Identifier: BSD-3-Clause */
/* The leaf kernels in plain C: rows, gathers and transposes. */
#include "libmli/src/builtins.h"
#include "libmli/src/exec/copy.h"
#include "libmli/src/exec/leaf.h"
#include "libmli/src/exec/tuning.h"

/* Small elements in 64-bit words, with the first element in the lowest bits. */

#define WORDS_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

#define LOW_32 UINT64_C(0x00000000ffffffff)
#define LOW_16 UINT64_C(0x0000ffff0000ffff)
#define LOW_8  UINT64_C(0x00ff00ff00ff00ff)

/* Swaps the high half of each 2*bits group of *a with the low half of *b's. */
static inline void swap_halves(uint64_t *a, uint64_t *b, int bits, uint64_t low_halves)
{
    const uint64_t t = ((*a >> bits) ^ *b) & low_halves;

    *b ^= t;
    *a ^= t << bits;
}

/* Swaps the bits of `a` in the mask `low` with the bits that are `bits` places higher. */
static inline uint64_t swap_within(uint64_t a, int bits, uint64_t low)
{
    const uint64_t t = ((a >> bits) ^ a) & low;

    return a ^ t ^ t << bits;
}

/* Moves bytes 0, 1, 2, 3 to the even places, and bytes 4, 5, 6, 7 to the odd places. */
static inline uint64_t zip_bytes(uint64_t a)
{
    return swap_within(swap_within(a, 16, UINT64_C(0x00000000ffff0000)), 8,
                       UINT64_C(0x0000ff000000ff00));
}

/* Copies rows, copies rows with zeros on both sides, and writes zeros. */

#define ROWS_OF(size) NEST_FOR_ROWS(nest, to, from, { copy_bytes(to, from, size); })

/* A run of exactly one piece needs only one copy. */
void rows_c(const struct leaf_nest *nest, size_t run)
{
#define ROWS_WITH(piece) NEST_FOR_ROWS(nest, to, from, { piece(to, from, run); })
    if (run >= TUNE_C_CALL_MIN)
        ROWS_WITH(copy_run)
    else if (run == 32)
        ROWS_OF(32)
    else if (run == 16)
        ROWS_OF(16)
    else if (run == 8)
        ROWS_OF(8)
    else if (run == 4)
        ROWS_OF(4)
    else if (run == 2)
        ROWS_OF(2)
    else
        PIECE_FOR_RUN(run, ROWS_WITH) ROWS_WITH(piece_32)
#undef ROWS_WITH
}

/* Zeroes `bytes` bytes, by a loop if they are few. */
static inline void zero(uint8_t *to, size_t bytes)
{
    if (bytes >= 16) {
        zero_bytes(to, bytes);
    } else if (bytes >= 8) {
        zero_bytes(to, 8);
        zero_bytes(to + bytes - 8, 8);
    } else if (bytes >= 4) {
        zero_bytes(to, 4);
        zero_bytes(to + bytes - 4, 4);
    } else {
        for (size_t i = 0; i < bytes; i++)
            to[i] = 0;
    }
}

void bordered_c(const struct leaf_nest *nest, const struct leaf_border *border)
{
    const size_t run = border->run;

#define ROWS_WITH(piece)                                                                           \
    NEST_FOR_ROWS(nest, to, from, {                                                                \
        zero(to, border->before);                                                                  \
        piece(to + border->before, from, run);                                                     \
        zero(to + border->before + run, border->after);                                            \
    })
    if (run >= TUNE_C_CALL_MIN)
        ROWS_WITH(copy_run)
    else
        PIECE_FOR_RUN(run, ROWS_WITH) ROWS_WITH(piece_32)
#undef ROWS_WITH
}

#define FILL_IN_PIECES(piece)                                                                      \
    for (size_t i = 0; i < count; i++, dst += step) {                                              \
        zero_bytes(dst, piece);                                                                    \
        zero_bytes(dst + run - (piece), piece);                                                    \
    }

void fill_c(uint8_t *dst, size_t step, size_t run, size_t count)
{
    if (run >= TUNE_C_CALL_MIN) {
        for (size_t i = 0; i < count; i++, dst += step)
            zero_bytes(dst, run);
    } else if (run >= 32) {
        FILL_IN_PIECES(32)
    } else if (run >= 16) {
        FILL_IN_PIECES(16)
    } else if (run >= 8) {
        FILL_IN_PIECES(8)
    } else if (run >= 4) {
        FILL_IN_PIECES(4)
    } else if (run >= 2) {
        FILL_IN_PIECES(2)
    } else {
        for (size_t i = 0; i < count; i++, dst += step)
            *dst = 0;
    }
}

/* Gathers elements that are apart; small elements are collected in a 64-bit word. */

#if WORDS_LITTLE

/* Gathers 8 bytes for the destination from elements that are `step` bytes apart. */
#define DEFINE_WORD(E, type)                                                                       \
    static inline uint64_t word_##E(const uint8_t *from, size_t step)                              \
    {                                                                                              \
        uint64_t word = 0;                                                                         \
                                                                                                   \
        for (int bits = 0; bits < 64; bits += 8 * (E), from += step) {                             \
            type element;                                                                          \
                                                                                                   \
            copy_bytes(&element, from, E);                                                         \
            word |= (uint64_t)element << bits;                                                     \
        }                                                                                          \
        return word;                                                                               \
    }

DEFINE_WORD(1, uint8_t)
DEFINE_WORD(2, uint16_t)
DEFINE_WORD(4, uint32_t)

#define GATHER_WORDS(E, to, from)                                                                  \
    for (; c + 8 / (E) <= cols; c += 8 / (E)) {                                                    \
        const uint64_t word = word_##E((from) + c * step, step);                                   \
                                                                                                   \
        copy_bytes((to) + c * (E), &word, 8);                                                      \
    }

#else

#define GATHER_WORDS(E, to, from)

#endif

#define GATHER_SINGLY(E, to, from)                                                                 \
    for (; c < cols; c++)                                                                          \
        copy_bytes((to) + c * (E), (from) + c * step, E);

#define DEFINE_GATHER(E)                                                                           \
    void gather_c_##E(const struct leaf_nest *nest, size_t step, size_t cols)                      \
    {                                                                                              \
        NEST_FOR_ROWS(nest, to, from, {                                                            \
            size_t c = 0;                                                                          \
                                                                                                   \
            GATHER_WORDS(E, to, from)                                                              \
            GATHER_SINGLY(E, to, from)                                                             \
        })                                                                                         \
    }

DEFINE_GATHER(1)
DEFINE_GATHER(2)
DEFINE_GATHER(4)

void gather_c_8(const struct leaf_nest *nest, size_t step, size_t cols)
{
    NEST_FOR_ROWS(nest, to, from, {
        size_t c = 0;

        GATHER_SINGLY(8, to, from)
    })
}

/*
 * Transposes in plain C: square blocks in 64-bit words. If there are fewer rows than in a block,
 * the rest of the block is not stored. If there are fewer columns, the others have undefined
 * values. These are stored too if rows are packed, because the next rows then overwrite them.
 */

#if WORDS_LITTLE

/*
 * turn_E transposes a block of E-byte elements, SIDE_E rows and columns. Each stage exchanges parts
 * half as wide as the stage before.
 */
enum { SIDE_1 = 8, SIDE_2 = 4 };

typedef uint64_t block_1[8], block_2[4];

static inline void turn_1(uint64_t *r)
{
    for (size_t i = 0; i < 4; i++)
        swap_halves(&r[i], &r[i + 4], 32, LOW_32);
    for (size_t i = 0; i < 8; i += i % 4 == 1 ? 3 : 1)
        swap_halves(&r[i], &r[i + 2], 16, LOW_16);
    for (size_t i = 0; i < 8; i += 2)
        swap_halves(&r[i], &r[i + 1], 8, LOW_8);
}

static inline void turn_2(uint64_t *r)
{
    swap_halves(&r[0], &r[2], 32, LOW_32);
    swap_halves(&r[1], &r[3], 32, LOW_32);
    swap_halves(&r[0], &r[1], 16, LOW_16);
    swap_halves(&r[2], &r[3], 16, LOW_16);
}

/* Moves two columns to packed rows, eight rows at a time. Returns the number of moved rows. */
static size_t zip(uint8_t *dst, const uint8_t *src, size_t src_step, size_t rows)
{
    uint64_t r[2];

    for (size_t i = 0; i < rows - rows % 8; i += 8) {
        copy_bytes(&r[0], src + i, 8);
        copy_bytes(&r[1], src + src_step + i, 8);
        swap_halves(&r[0], &r[1], 32, LOW_32);
        r[0] = zip_bytes(r[0]);
        r[1] = zip_bytes(r[1]);
        copy_bytes(dst + 2 * i, r, 16);
    }
    return rows - rows % 8;
}

#else

static size_t zip(uint8_t *dst, const uint8_t *src, size_t src_step, size_t rows)
{
    (void)dst;
    (void)src;
    (void)src_step;
    (void)rows;
    return 0;
}

enum { SIDE_1 = 1, SIDE_2 = 1 };

typedef uint8_t block_1[1];
typedef uint16_t block_2[1];

static inline void turn_1(uint8_t *r)
{
    (void)r;
}

static inline void turn_2(uint16_t *r)
{
    (void)r;
}

#endif

enum { SIDE_4 = 4, SIDE_8 = 2 };

typedef uint32_t block_4[4][4];
typedef uint64_t block_8[2][2];

/* Blocks of 4-byte and 8-byte elements are transposed when they are stored. */
static inline void turn_4(uint32_t (*e)[4])
{
    (void)e;
}

static inline void turn_8(uint64_t (*e)[2])
{
    (void)e;
}

#define store_1(to, block, r) copy_bytes(to, &block[r], sizeof(block[r]))
#define store_2(to, block, r) store_1(to, block, r)

static inline void store_4(uint8_t *to, uint32_t (*e)[4], size_t r)
{
    const uint32_t row[4] = {e[0][r], e[1][r], e[2][r], e[3][r]};

    copy_bytes(to, row, sizeof(row));
}

static inline void store_8(uint8_t *to, uint64_t (*e)[2], size_t r)
{
    const uint64_t row[2] = {e[0][r], e[1][r]};

    copy_bytes(to, row, sizeof(row));
}

static size_t at_most(size_t count, size_t most)
{
    return count < most ? count : most;
}

#define MOVE_BLOCK(E, COLUMN, ROW, r, c)                                                           \
    {                                                                                              \
        block_##E block;                                                                           \
                                                                                                   \
        for (size_t i = 0; i < SIDE_##E; i++)                                                      \
            copy_bytes(&block[i], COLUMN((c) + i) + (r) * (E), sizeof(block[i]));                  \
        turn_##E(block);                                                                           \
        for (size_t i = 0; i < SIDE_##E; i++)                                                      \
            store_##E(ROW((r) + i) + (c) * (E), block, i);                                         \
    }

/* Moves element by element. */
#define MOVE_SINGLY(E, COLUMN, ROW, r0, r1, c0, c1)                                                \
    for (size_t r = (r0); r < (r1); r++)                                                           \
        for (size_t c = (c0); c < (c1); c++)                                                       \
            copy_bytes(ROW(r) + c * (E), COLUMN(c) + r * (E), E);

/*
 * Moves a matrix of at least one block; blocks at the far edges overlap the blocks before them.
 * Goes through the matrix in tiles that are a cache line long in both directions, so that the lines
 * of source and destination stay in the first-level cache until they are used up.
 */
#define MOVE_BLOCKS(E, COLUMN, ROW)                                                                \
    for (size_t r0 = 0; r0 < rows; r0 += TUNE_LINE / (E))                                          \
        for (size_t c0 = 0; c0 < cols; c0 += TUNE_LINE / (E))                                      \
            for (size_t r = r0; r < rows && r < r0 + TUNE_LINE / (E); r += SIDE_##E)               \
                for (size_t c = c0; c < cols && c < c0 + TUNE_LINE / (E); c += SIDE_##E) {         \
                    const size_t row = at_most(r, rows - SIDE_##E);                                \
                    const size_t col = at_most(c, cols - SIDE_##E);                                \
                                                                                                   \
                    MOVE_BLOCK(E, COLUMN, ROW, row, col)                                           \
                }

#define STEP_COLUMN(c) (src + (c)*src_step)
#define STEP_ROW(r)    (dst + (r)*dst_step)
#define AT_COLUMN(c)   (src + src_at[c])
#define AT_ROW(r)      (dst + dst_at[r])

#define INTERLEAVE_COLUMN(c) (column[c])

#define DEFINE_TRANSPOSE(E)                                                                        \
    static void narrow_##E(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,     \
                           size_t rows, size_t cols)                                               \
    {                                                                                              \
        const size_t most = TUNE_C_NARROW / src_step + 1;                                          \
                                                                                                   \
        for (size_t c = 0; c < cols; c += most) {                                                  \
            const struct leaf_nest nest = {                                                        \
                dst + c * (E), src + c * src_step, {1, 0, 0}, {rows, dst_step, E}};                \
                                                                                                   \
            gather_c_##E(&nest, src_step, at_most(cols - c, most));                                \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void interleave_##E(uint8_t *dst, const uint8_t *src, size_t src_step, size_t rows,     \
                               size_t cols)                                                        \
    {                                                                                              \
        const size_t dst_step = cols * (E);                                                        \
        const uint8_t *column[SIDE_##E];                                                           \
        size_t done = 0;                                                                           \
                                                                                                   \
        for (size_t i = 0; i < SIDE_##E; i++)                                                      \
            column[i] = STEP_COLUMN(at_most(i, cols - 1));                                         \
        if ((E) == 1 && cols == 2)                                                                 \
            done = zip(dst, src, src_step, rows);                                                  \
        for (; done + 2 * SIDE_##E <= rows; done += SIDE_##E)                                      \
            MOVE_BLOCK(E, INTERLEAVE_COLUMN, STEP_ROW, done, 0)                                    \
        MOVE_SINGLY(E, STEP_COLUMN, STEP_ROW, done, rows, 0, cols)                                 \
    }                                                                                              \
                                                                                                   \
    void transpose_c_##E(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,       \
                         size_t rows, size_t cols)                                                 \
    {                                                                                              \
        if (rows >= SIDE_##E && cols >= SIDE_##E)                                                  \
            MOVE_BLOCKS(E, STEP_COLUMN, STEP_ROW)                                                  \
        else if (cols >= SIDE_##E)                                                                 \
            narrow_##E(dst, dst_step, src, src_step, rows, cols);                                  \
        else if (cols > 1 && rows >= SIDE_##E && dst_step == cols * (E))                           \
            interleave_##E(dst, src, src_step, rows, cols);                                        \
        else                                                                                       \
            MOVE_SINGLY(E, STEP_COLUMN, STEP_ROW, 0, rows, 0, cols)                                \
    }                                                                                              \
                                                                                                   \
    void transpose_at_c_##E(uint8_t *dst, const size_t *dst_at, const uint8_t *src,                \
                            const size_t *src_at, size_t rows, size_t cols)                        \
    {                                                                                              \
        if (rows >= SIDE_##E && cols >= SIDE_##E)                                                  \
            MOVE_BLOCKS(E, AT_COLUMN, AT_ROW)                                                      \
        else                                                                                       \
            MOVE_SINGLY(E, AT_COLUMN, AT_ROW, 0, rows, 0, cols)                                    \
    }

DEFINE_TRANSPOSE(1)
DEFINE_TRANSPOSE(2)
DEFINE_TRANSPOSE(4)
DEFINE_TRANSPOSE(8)

const struct leaf_table leaf_c = {
    .name = "c",
    .rows = rows_c,
    .bordered = bordered_c,
    .gather = {gather_c_1, gather_c_2, gather_c_4, gather_c_8},
    .transpose = {transpose_c_1, transpose_c_2, transpose_c_4, transpose_c_8},
    .transpose_at = {transpose_at_c_1, transpose_at_c_2, transpose_at_c_4, transpose_at_c_8},
    .fill = fill_c,
    .small_panels = true,
};
