/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaf kernels with AVX2. */
#include "libmli/src/exec/x86/kernels_x86.h"

#if LEVEL_HAS_X86

#include <immintrin.h>

#include "libmli/src/exec/tile_block.h"

TARGET_BEGIN("avx2,prfchw")

#include "libmli/src/exec/x86/lanes.h"

#define LANES                           2
#define VEC                             __m256i
#define VEC_LOAD(at, step)              load_2((at), (at) + (step))
#define VEC_LOAD_AT(base, offset, step) load_2((base) + *(offset), (base) + *((offset) + (step)))
#define TILE_NAME(name)                 name##_by_2
#define OP(name)                        _mm256_##name
#define STORE                           storeu_si256
#include "libmli/src/exec/x86/tiles.h"
#undef STORE

#define LANES                           1
#define VEC                             __m128i
#define VEC_LOAD(at, step)              load_1(at)
#define VEC_LOAD_AT(base, offset, step) load_1((base) + *(offset))
#define TILE_NAME(name)                 name##_by_1
#define OP(name)                        _mm_##name
#define STORE                           storeu_si128
#include "libmli/src/exec/x86/tiles.h"
#undef STORE

#define DEFINE_TRANSPOSE(E, index)                                                                 \
    static void transpose_##E(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,  \
                              size_t rows, size_t cols)                                            \
    {                                                                                              \
        if (rows < 16 / (E) || cols < 16 / (E))                                                    \
            skinny_avx2(index, dst, dst_step, src, src_step, rows, cols);                          \
        else if (cols < 32 / (E))                                                                  \
            tiles_##E##_by_1(dst, dst_step, src, src_step, rows, cols);                            \
        else                                                                                       \
            tiles_##E##_by_2(dst, dst_step, src, src_step, rows, cols);                            \
    }                                                                                              \
                                                                                                   \
    static void transpose_at_##E(uint8_t *dst, const size_t *dst_at, const uint8_t *src,           \
                                 const size_t *src_at, size_t rows, size_t cols)                   \
    {                                                                                              \
        if (rows < 16 / (E) || cols < 16 / (E))                                                    \
            leaf_c.transpose_at[index](dst, dst_at, src, src_at, rows, cols);                      \
        else if (cols < 32 / (E))                                                                  \
            tiles_at_##E##_by_1(dst, dst_at, src, src_at, rows, cols);                             \
        else                                                                                       \
            tiles_at_##E##_by_2(dst, dst_at, src, src_at, rows, cols);                             \
    }

DEFINE_TRANSPOSE(1, 0)
DEFINE_TRANSPOSE(2, 1)
DEFINE_TRANSPOSE(4, 2)
DEFINE_TRANSPOSE(8, 3)

#define DEFINE_GATHER(E, index)                                                                    \
    static void gather_##E(const struct leaf_nest *nest, size_t step, size_t cols)                 \
    {                                                                                              \
        gather_avx2(index, nest, step, cols);                                                      \
    }

DEFINE_GATHER(1, 0)
DEFINE_GATHER(2, 1)
DEFINE_GATHER(4, 2)

void level_avx2(struct leaf_table *table)
{
    gather_avx2_init();
    skinny_avx2_init();
    table->name = "avx2";
    table->rows = rows_avx2;
    table->bordered = bordered_avx2;
    table->fill = fill_avx2;
    table->small_panels = false;
    table->stream = stream_avx2;
    table->fence = fence_x86;
    table->gather[0] = gather_1;
    table->gather[1] = gather_2;
    table->gather[2] = gather_4;
    table->transpose[0] = transpose_1;
    table->transpose[1] = transpose_2;
    table->transpose[2] = transpose_4;
    table->transpose[3] = transpose_8;
    table->transpose_at[0] = transpose_at_1;
    table->transpose_at[1] = transpose_at_2;
    table->transpose_at[2] = transpose_at_4;
    table->transpose_at[3] = transpose_at_8;
}

TARGET_END

#endif
