/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaf kernels with NEON, which every AArch64 processor has. There is no stream: stnp, the store of
 * a pair that need not be kept in the caches, is a hint that few processors use.
 */
#include "libmli/src/exec/level.h"

#if LEVEL_HAS_NEON

#include <arm_neon.h>

#include "libmli/src/exec/arm/kernels_neon.h"
#include "libmli/src/exec/c/kernels_c.h"
#include "libmli/src/exec/tile_block.h"

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
        if (zip_neon_transpose(index, dst, dst_step, src, src_step, rows, cols))                   \
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
        if (!zip_neon_gather(index, nest, step, cols))                                             \
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
