/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaf kernels with AVX-512 (F, BW, VL, VBMI): a register is a cache line. */
#include "../level.h"

#if LEVEL_HAS_X86

#include <immintrin.h>

#include "../nest.h"
#include "../tile_block.h"
#include "pick_avx512.h"
#include "target.h"
#include "thin_avx512.h"

TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vbmi")

#include "lanes.h"

ALWAYS_INLINE __m512i load_4(const uint8_t *a, const uint8_t *b, const uint8_t *c, const uint8_t *d)
{
    __m512i v = _mm512_castsi128_si512(load_1(a));

    v = _mm512_inserti32x4(v, load_1(b), 1);
    v = _mm512_inserti32x4(v, load_1(c), 2);
    return _mm512_inserti32x4(v, load_1(d), 3);
}

#define LANES 4
#define VEC   __m512i
#define VEC_LOAD(COLUMN, c, apart, offset)                                                         \
    load_4(COLUMN(c) + (offset), COLUMN((c) + (apart)) + (offset),                                 \
           COLUMN((c) + 2 * (apart)) + (offset), COLUMN((c) + 3 * (apart)) + (offset))
#define TILE_NAME(name) name##_by_4
#define OP(name)        _mm512_##name
#define STORE           storeu_si512
#include "tiles.h"
#undef STORE

static struct leaf_table below;

#define DEFINE_TRANSPOSE(E, index)                                                                 \
    static void transpose_##E(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,  \
                              size_t rows, size_t cols)                                            \
    {                                                                                              \
        if (thin_avx512(&(struct thin){index, dst, dst_step, src, src_step, rows, cols}))          \
            return;                                                                                \
        if (rows < 16 / (E) || cols < 64 / (E))                                                    \
            below.transpose[index](dst, dst_step, src, src_step, rows, cols);                      \
        else                                                                                       \
            tiles_##E##_by_4(dst, dst_step, src, src_step, rows, cols);                            \
    }                                                                                              \
                                                                                                   \
    static void transpose_at_##E(uint8_t *dst, const size_t *dst_at, const uint8_t *src,           \
                                 const size_t *src_at, size_t rows, size_t cols)                   \
    {                                                                                              \
        if (rows < 16 / (E) || cols < 64 / (E))                                                    \
            below.transpose_at[index](dst, dst_at, src, src_at, rows, cols);                       \
        else                                                                                       \
            tiles_at_##E##_by_4(dst, dst_at, src, src_at, rows, cols);                             \
    }

DEFINE_TRANSPOSE(1, 0)
DEFINE_TRANSPOSE(2, 1)
DEFINE_TRANSPOSE(4, 2)
DEFINE_TRANSPOSE(8, 3)

#define DEFINE_PICK(E, index)                                                                      \
    static void pick_##E(const struct leaf_nest *nest, size_t step, size_t cols)                   \
    {                                                                                              \
        if (pick_avx512_can(index, step))                                                          \
            pick_avx512(index, nest, step, cols);                                                  \
        else                                                                                       \
            below.pick[index](nest, step, cols);                                                   \
    }

DEFINE_PICK(1, 0)
DEFINE_PICK(2, 1)
DEFINE_PICK(4, 2)
DEFINE_PICK(8, 3)

#define LOAD_32(at)     _mm256_loadu_si256((const void *)(at))
#define STORE_32(at, v) _mm256_storeu_si256((void *)(at), (v))
#define LOAD_64(at)     _mm512_loadu_si512((const void *)(at))
#define STORE_64(at, v) _mm512_storeu_si512((void *)(at), (v))

/* Longer rows are worth a call of memcpy, which knows more about long ones. */
enum { CALL_MIN = 1024 };

static inline __attribute__((always_inline)) void copy_row(uint8_t *dst, const uint8_t *src,
                                                           size_t run)
{
    const __m512i last = LOAD_64(src + run - 64);

    for (size_t i = 0; i < run - 64; i += 64)
        STORE_64(dst + i, LOAD_64(src + i));
    STORE_64(dst + run - 64, last);
}

/* Rows as whole registers, the last of which overlaps the one before. */
static void rows(const struct leaf_nest *nest, size_t run)
{
    if (run <= 32 || run >= CALL_MIN)
        below.rows(nest, run);
    else if (run <= 64)
        NEST_FOR_ROWS(nest, to, from, {
            const __m256i head = LOAD_32(from), tail = LOAD_32(from + run - 32);

            STORE_32(to, head);
            STORE_32(to + run - 32, tail);
        })
    else if (run <= 128)
        NEST_FOR_ROWS(nest, to, from, {
            const __m512i head = LOAD_64(from), tail = LOAD_64(from + run - 64);

            STORE_64(to, head);
            STORE_64(to + run - 64, tail);
        })
    else
        NEST_FOR_ROWS(nest, to, from, { copy_row(to, from, run); })
}

void level_avx512(struct leaf_table *table)
{
    below = *table;
    pick_avx512_init();
    thin_avx512_init();
    table->name = "avx512";
    table->transpose[0] = transpose_1;
    table->transpose[1] = transpose_2;
    table->transpose[2] = transpose_4;
    table->transpose[3] = transpose_8;
    table->transpose_at[0] = transpose_at_1;
    table->transpose_at[1] = transpose_at_2;
    table->transpose_at[2] = transpose_at_4;
    table->transpose_at[3] = transpose_at_8;
    table->rows = rows;
    table->pick[0] = pick_1;
    table->pick[1] = pick_2;
    table->pick[2] = pick_4;
    table->pick[3] = pick_8;
}

TARGET_END

#endif
