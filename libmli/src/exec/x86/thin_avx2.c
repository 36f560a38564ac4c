/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transposes with a side of less than 16 bytes, with AVX2. The kernels move tiles of 32 bytes of
 * the long side, and read or write somewhat more than that: the last tiles, and those of matrices
 * with gaps, go through buffers.
 */
#include "../level.h"

#if LEVEL_HAS_X86

#include <immintrin.h>

#include "../c/kernels_c.h"
#include "narrow_avx2.h"
#include "rows_avx2.h"
#include "target.h"
#include "thin_avx2.h"
#include "weave_avx2.h"

TARGET_BEGIN("avx2")

#include "lanes_avx2.h"

/* Columns farther apart than this are read exactly: between them may be what is not ours. */
enum { STEP_MAX = 256 };

struct thin {
    uint32_t size_log;
    uint8_t *dst;
    size_t dst_step;
    const uint8_t *src;
    size_t src_step, rows, cols;
};

static void copy_rows(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,
                      size_t run, size_t count)
{
    rows_avx2(&(struct leaf_nest){dst, src, {1, 0, 0}, {count, dst_step, src_step}}, run);
}

/* Columns [c, c + count), 32 bytes of each row at most. */
static void narrow_through_buffer(const struct thin *t, narrow_kernel *kernel, size_t c,
                                  size_t count)
{
    const size_t col = t->rows << t->size_log;
    uint8_t in[(VEC + 1) * LANE] = {0}, out[LANE * VEC];

    copy_rows(in, col, t->src + c * t->src_step, t->src_step, col, count);
    kernel(t->size_log, out, VEC, in, col, t->rows, 1);
    copy_rows(t->dst + (c << t->size_log), t->dst_step, out, VEC, count << t->size_log, t->rows);
}

static void narrow(const struct thin *t)
{
    const size_t wide = (size_t)VEC >> t->size_log, spare = (size_t)LANE >> t->size_log;
    const size_t col = t->rows << t->size_log;
    size_t c = 0;

    if (t->src_step >= col && t->src_step <= STEP_MAX && t->cols >= wide + spare) {
        const size_t tiles = (t->cols - spare) / wide;

        narrow_avx2(t->size_log, t->src_step, t->rows)(t->size_log, t->dst, t->dst_step, t->src,
                                                       t->src_step, t->rows, tiles);
        c = tiles * wide;
    }
    for (; c < t->cols; c += wide)
        narrow_through_buffer(t, narrow_avx2(t->size_log, col, t->rows), c,
                              t->cols - c < wide ? t->cols - c : wide);
}

/* Rows [r, r + count), 32 bytes of each column at most. */
static void weave_through_buffer(const struct thin *t, weave_kernel *kernel, size_t r, size_t count)
{
    const size_t row = t->cols << t->size_log;
    uint8_t in[LANE * VEC] = {0}, out[(VEC + 1) * LANE];

    copy_rows(in, VEC, t->src + (r << t->size_log), t->src_step, count << t->size_log, t->cols);
    kernel(t->size_log, out, in, VEC, t->cols, 1);
    if (t->dst_step == row)
        copy_rows(t->dst + r * row, 0, out, 0, count * row, 1);
    else
        copy_rows(t->dst + r * t->dst_step, t->dst_step, out, row, row, count);
}

static void weave(const struct thin *t)
{
    const size_t high = (size_t)VEC >> t->size_log, spare = (size_t)LANE >> t->size_log;
    weave_kernel *const kernel = weave_avx2(t->size_log, t->cols);
    size_t r = 0;

    if (t->dst_step == t->cols << t->size_log && t->rows >= high + spare) {
        const size_t tiles = (t->rows - spare) / high;

        kernel(t->size_log, t->dst, t->src, t->src_step, t->cols, tiles);
        r = tiles * high;
    }
    for (; r < t->rows; r += high)
        weave_through_buffer(t, kernel, r, t->rows - r < high ? t->rows - r : high);
}

void thin_avx2(uint32_t size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
               size_t src_step, size_t rows, size_t cols)
{
    const struct thin thin = {size_log, dst, dst_step, src, src_step, rows, cols};
    const size_t few = (size_t)LANE >> size_log;

    if (rows < few && rows >= 2 && cols >= few)
        narrow(&thin);
    else if (cols < few && cols >= 2 && rows >= few)
        weave(&thin);
    else
        leaf_c.transpose[size_log](dst, dst_step, src, src_step, rows, cols);
}

void thin_avx2_init(void)
{
    narrow_avx2_init();
    weave_avx2_init();
}

TARGET_END

#endif
