/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaf kernels with AVX-512 (F, BW, VL, VBMI): a register is a cache line. */
#include "libmli/src/exec/x86/kernels_x86.h"

#if LEVEL_HAS_AVX512

#include <immintrin.h>

#include "libmli/src/exec/tile_block.h"
#include "libmli/src/exec/tuning.h"

TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vbmi,prfchw")

#include "libmli/src/exec/x86/lanes.h"

/* Uses masked broadcasts, because inserts need the port of the shuffles. */
ALWAYS_INLINE __m512i load_4(const uint8_t *a, const uint8_t *b, const uint8_t *c, const uint8_t *d)
{
    __m512i v = _mm512_castsi128_si512(load_1(a));

    v = _mm512_mask_broadcast_i32x4(v, 0x00f0, load_1(b));
    v = _mm512_mask_broadcast_i32x4(v, 0x0f00, load_1(c));
    return _mm512_mask_broadcast_i32x4(v, 0xf000, load_1(d));
}

#define LANES              4
#define VEC                __m512i
#define VEC_LOAD(at, step) load_4((at), (at) + (step), (at) + 2 * (step), (at) + 3 * (step))
#define VEC_LOAD_AT(base, offset, step)                                                            \
    load_4((base) + *(offset), (base) + *((offset) + (step)), (base) + *((offset) + 2 * (step)),   \
           (base) + *((offset) + 3 * (step)))
#define TILE_NAME(name) name##_by_4
#define OP(name)        _mm512_##name
#define STORE           storeu_si512
#include "libmli/src/exec/x86/tiles.h"
#undef STORE

static struct leaf_table below;

/*
 * Returns the number of remaining columns, if there are few tiles and the rest fits in half a tile;
 * else 0. The narrower registers of the level below have two ports for shuffles and take half the
 * time.
 */
static size_t half_tile(size_t cols, size_t tile)
{
    const size_t left = cols % tile;

    return cols < 4 * tile && left <= tile / 2 ? left : 0;
}

/* Number of columns of a tile. */
#define TILE(E) ((size_t)64 / (E))

#define DEFINE_TRANSPOSE(E, index)                                                                 \
    static void transpose_##E(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,  \
                              size_t rows, size_t cols)                                            \
    {                                                                                              \
        if (skinny_avx512(&(struct skinny){index, dst, dst_step, src, src_step, rows, cols}))      \
            return;                                                                                \
        if (rows < 16 / (E) || cols < TILE(E)) {                                                   \
            below.transpose[index](dst, dst_step, src, src_step, rows, cols);                      \
            return;                                                                                \
        }                                                                                          \
        const size_t left = half_tile(cols, TILE(E)), half = cols - TILE(E) / 2;                   \
                                                                                                   \
        tiles_##E##_by_4(dst, dst_step, src, src_step, rows, cols - left);                         \
        if (left > 0)                                                                              \
            below.transpose[index](dst + half * (E), dst_step, src + half * src_step, src_step,    \
                                   rows, TILE(E) / 2);                                             \
    }                                                                                              \
                                                                                                   \
    static bool transpose_stream_##E(uint8_t *dst, size_t dst_step, const uint8_t *src,            \
                                     size_t src_step, size_t rows, size_t cols)                    \
    {                                                                                              \
        return skinny_stream_avx512(                                                               \
            &(struct skinny){index, dst, dst_step, src, src_step, rows, cols});                    \
    }                                                                                              \
                                                                                                   \
    static bool transpose_streams_##E(uint8_t *dst, size_t dst_step, const uint8_t *src,           \
                                      size_t src_step, size_t rows, size_t cols)                   \
    {                                                                                              \
        return skinny_streams_avx512(                                                              \
            &(struct skinny){index, dst, dst_step, src, src_step, rows, cols});                    \
    }                                                                                              \
                                                                                                   \
    static void transpose_at_##E(uint8_t *dst, const size_t *dst_at, const uint8_t *src,           \
                                 const size_t *src_at, size_t rows, size_t cols)                   \
    {                                                                                              \
        if (rows < 16 / (E) || cols < TILE(E)) {                                                   \
            below.transpose_at[index](dst, dst_at, src, src_at, rows, cols);                       \
            return;                                                                                \
        }                                                                                          \
        const size_t left = half_tile(cols, TILE(E)), half = cols - TILE(E) / 2;                   \
                                                                                                   \
        tiles_at_##E##_by_4(dst, dst_at, src, src_at, rows, cols - left);                          \
        if (left > 0)                                                                              \
            below.transpose_at[index](dst + half * (E), dst_at, src, src_at + half, rows,          \
                                      TILE(E) / 2);                                                \
    }

DEFINE_TRANSPOSE(1, 0)
DEFINE_TRANSPOSE(2, 1)
DEFINE_TRANSPOSE(4, 2)
DEFINE_TRANSPOSE(8, 3)

/*
 * Prefetches all lines of the rows at distance `ahead` into the second-level cache, which can wait
 * for more lines at a time than the first-level cache can.
 */
static void fetch_rows(const struct leaf_nest *nest, size_t bytes)
{
    enum { TO_SECOND_LEVEL = 2 };
    const size_t ahead = nest->ahead;

    NEST_FOR_ROWS(nest, to, from, {
        (void)to;
        for (size_t i = 0; i < bytes; i += TUNE_LINE)
            __builtin_prefetch(from + ahead + i, 0, TO_SECOND_LEVEL);
        __builtin_prefetch(from + ahead + bytes - 1, 0, TO_SECOND_LEVEL);
    })
}

#define DEFINE_GATHER(E, index)                                                                    \
    static void gather_##E(const struct leaf_nest *nest, size_t step, size_t cols)                 \
    {                                                                                              \
        if (nest->ahead > 0)                                                                       \
            fetch_rows(nest, (cols - 1) * step + (E));                                             \
        if (gather_avx512_can(index, step))                                                        \
            gather_avx512(index, nest, step, cols);                                                \
        else                                                                                       \
            below.gather[index](nest, step, cols);                                                 \
    }

DEFINE_GATHER(1, 0)
DEFINE_GATHER(2, 1)
DEFINE_GATHER(4, 2)
DEFINE_GATHER(8, 3)

void level_avx512(struct leaf_table *table)
{
    below = *table;
    gather_avx512_init();
    skinny_avx512_init();
    table->name = "avx512";
#define USE(E, index)                                                                              \
    table->gather[index] = gather_##E;                                                             \
    table->transpose[index] = transpose_##E;                                                       \
    table->transpose_at[index] = transpose_at_##E;                                                 \
    table->transpose_stream[index] = transpose_stream_##E;                                         \
    table->transpose_streams[index] = transpose_streams_##E;
    USE(1, 0)
    USE(2, 1)
    USE(4, 2)
    USE(8, 3)
#undef USE
    table->rows = rows_avx512;
    table->bordered = bordered_avx512;
    table->fill = fill_avx512;
    table->stream = stream_avx512;
    table->fence = fence_x86;
    table->fetches = true;
}

TARGET_END

#endif
