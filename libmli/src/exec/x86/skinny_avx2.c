/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transposes with a side of less than 16 bytes, with AVX2. Columns that are far apart, and rows
 * that are not packed, are copied through a buffer that is packed.
 */
#include "libmli/src/exec/level.h"

#if LEVEL_HAS_X86

#include <immintrin.h>

#include "libmli/src/exec/c/kernels_c.h"
#include "libmli/src/exec/x86/kernels_avx2.h"
#include "libmli/src/exec/x86/target.h"

TARGET_BEGIN("avx2,prfchw")

#include "libmli/src/exec/x86/lanes_avx2.h"

/*
 * Up to this step, the kernels may read the bytes between columns; farther apart there may be
 * inaccessible memory.
 */
enum { STEP_MAX = 256 };

struct skinny {
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

enum { BUFFER = 4 * LANE }; /* bytes of the long side in the buffer */

/* Returns how much to move through the buffer next: at least a lane. */
static size_t next_piece(const struct skinny *t, size_t left)
{
    const size_t most = (size_t)BUFFER >> t->size_log, lane = (size_t)LANE >> t->size_log;

    return left <= most ? left : left - most < lane ? left - lane : most;
}

static void narrow_through_buffer(const struct skinny *t)
{
    const size_t col = t->rows << t->size_log;
    uint8_t in[BUFFER * LANE];

    for (size_t c = 0; c < t->cols;) {
        const size_t count = next_piece(t, t->cols - c);

        copy_rows(in, col, t->src + c * t->src_step, t->src_step, col, count);
        narrow_avx2(t->size_log, t->dst + (c << t->size_log), t->dst_step, in, col, t->rows, count);
        c += count;
    }
}

static void interleave_through_buffer(const struct skinny *t)
{
    const size_t row = t->cols << t->size_log;
    uint8_t out[BUFFER * LANE];

    for (size_t r = 0; r < t->rows;) {
        const size_t count = next_piece(t, t->rows - r);

        interleave_avx2(t->size_log, out, t->src + (r << t->size_log), t->src_step, count, t->cols);
        copy_rows(t->dst + r * t->dst_step, t->dst_step, out, row, row, count);
        r += count;
    }
}

void skinny_avx2(uint32_t size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                 size_t src_step, size_t rows, size_t cols)
{
    const struct skinny skinny = {size_log, dst, dst_step, src, src_step, rows, cols};
    const size_t few = (size_t)LANE >> size_log;

    if (rows < few && rows >= 2 && cols >= few && src_step >= rows << size_log) {
        if (src_step <= STEP_MAX)
            narrow_avx2(size_log, dst, dst_step, src, src_step, rows, cols);
        else
            narrow_through_buffer(&skinny);
    } else if (cols < few && cols >= 2 && rows >= few) {
        if (dst_step == cols << size_log)
            interleave_avx2(size_log, dst, src, src_step, rows, cols);
        else
            interleave_through_buffer(&skinny);
    } else {
        leaf_c.transpose[size_log](dst, dst_step, src, src_step, rows, cols);
    }
}

void skinny_avx2_init(void)
{
    narrow_avx2_init();
    interleave_avx2_init();
}

TARGET_END

#endif
