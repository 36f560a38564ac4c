/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiled transposes in plain C: in 64-bit registers. */
#include "../../bytes.h"
#include "kernels_c.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/* Swaps the high half of each 2*bits group of *a with the low half of *b's. */
static inline void swap_halves(uint64_t *a, uint64_t *b, int bits, uint64_t low_halves)
{
    const uint64_t t = ((*a >> bits) ^ *b) & low_halves;

    *b ^= t;
    *a ^= t << bits;
}

#define LOW_32 UINT64_C(0x00000000ffffffff)
#define LOW_16 UINT64_C(0x0000ffff0000ffff)
#define LOW_8  UINT64_C(0x00ff00ff00ff00ff)

/* 8x8 elements of 1 byte: each stage exchanges blocks half as wide as the one before. */
static inline void micro_1(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step)
{
    uint64_t r[8];

    for (size_t i = 0; i < 8; i++)
        copy_bytes(&r[i], src + i * src_step, 8);
    for (size_t i = 0; i < 4; i++)
        swap_halves(&r[i], &r[i + 4], 32, LOW_32);
    for (size_t i = 0; i < 8; i += i % 4 == 1 ? 3 : 1)
        swap_halves(&r[i], &r[i + 2], 16, LOW_16);
    for (size_t i = 0; i < 8; i += 2)
        swap_halves(&r[i], &r[i + 1], 8, LOW_8);
    for (size_t i = 0; i < 8; i++)
        copy_bytes(dst + i * dst_step, &r[i], 8);
}

/* 4x4 elements of 2 bytes. */
static inline void micro_2(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step)
{
    uint64_t r[4];

    for (size_t i = 0; i < 4; i++)
        copy_bytes(&r[i], src + i * src_step, 8);
    swap_halves(&r[0], &r[2], 32, LOW_32);
    swap_halves(&r[1], &r[3], 32, LOW_32);
    swap_halves(&r[0], &r[1], 16, LOW_16);
    swap_halves(&r[2], &r[3], 16, LOW_16);
    for (size_t i = 0; i < 4; i++)
        copy_bytes(dst + i * dst_step, &r[i], 8);
}

enum { MICRO_1 = 8, MICRO_2 = 4 };

#else

static inline void micro_1(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step)
{
    (void)dst_step;
    (void)src_step;
    *dst = *src;
}

static inline void micro_2(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step)
{
    (void)dst_step;
    (void)src_step;
    copy_bytes(dst, src, 2);
}

enum { MICRO_1 = 1, MICRO_2 = 1 };

#endif

/* 4x4 elements of 4 bytes. */
static inline void micro_4(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step)
{
    uint32_t e[4][4];

    for (size_t c = 0; c < 4; c++)
        copy_bytes(e[c], src + c * src_step, 16);
    for (size_t r = 0; r < 4; r++) {
        const uint32_t row[4] = {e[0][r], e[1][r], e[2][r], e[3][r]};

        copy_bytes(dst + r * dst_step, row, 16);
    }
}

/* 2x2 elements of 8 bytes. */
static inline void micro_8(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step)
{
    uint64_t a[2], b[2];

    copy_bytes(a, src, 16);
    copy_bytes(b, src + src_step, 16);
    copy_bytes(dst, ((const uint64_t[2]){a[0], b[0]}), 16);
    copy_bytes(dst + dst_step, ((const uint64_t[2]){a[1], b[1]}), 16);
}

enum { MICRO_4 = 4, MICRO_8 = 2 };

/*
 * Tiles of one cache line by one cache line's worth of rows keep the lines of both sides in the
 * first-level cache until they are used up. In a tile, micro-kernels of N x N elements; what is
 * left at the edges element by element.
 */
#define LINE 64

#define DEFINE_TRANSPOSE(E)                                                                        \
    static void tile_##E(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,       \
                         size_t rows, size_t cols)                                                 \
    {                                                                                              \
        const size_t full_rows = rows - rows % MICRO_##E, full_cols = cols - cols % MICRO_##E;     \
                                                                                                   \
        for (size_t r = 0; r < full_rows; r += MICRO_##E)                                          \
            for (size_t c = 0; c < full_cols; c += MICRO_##E)                                      \
                micro_##E(dst + r * dst_step + c * (E), dst_step, src + c * src_step + r * (E),    \
                          src_step);                                                               \
        for (size_t r = 0; r < rows; r++)                                                          \
            for (size_t c = r < full_rows ? full_cols : 0; c < cols; c++)                          \
                copy_bytes(dst + r * dst_step + c * (E), src + c * src_step + r * (E), E);         \
    }                                                                                              \
                                                                                                   \
    void transpose_c_##E(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,       \
                         size_t rows, size_t cols)                                                 \
    {                                                                                              \
        const size_t side = LINE / (E);                                                            \
                                                                                                   \
        for (size_t r = 0; r < rows; r += side)                                                    \
            for (size_t c = 0; c < cols; c += side)                                                \
                tile_##E(dst + r * dst_step + c * (E), dst_step, src + c * src_step + r * (E),     \
                         src_step, rows - r < side ? rows - r : side,                              \
                         cols - c < side ? cols - c : side);                                       \
    }                                                                                              \
                                                                                                   \
    void transpose_at_c_##E(uint8_t *dst, const size_t *dst_at, const uint8_t *src,                \
                            const size_t *src_at, size_t rows, size_t cols)                        \
    {                                                                                              \
        const size_t side = LINE / (E);                                                            \
                                                                                                   \
        for (size_t r0 = 0; r0 < rows; r0 += side)                                                 \
            for (size_t r = r0; r < rows && r < r0 + side; r++)                                    \
                for (size_t c = 0; c < cols; c++)                                                  \
                    copy_bytes(dst + dst_at[r] + c * (E), src + src_at[c] + r * (E), E);           \
    }

DEFINE_TRANSPOSE(1)
DEFINE_TRANSPOSE(2)
DEFINE_TRANSPOSE(4)
DEFINE_TRANSPOSE(8)
