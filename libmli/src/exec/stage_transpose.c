/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streaming transposes: matrices, with rows that are apart; panels, with rows or columns from two
 * loops; pixels, with short rows that follow one another.
 */
#include "libmli/src/exec/panel.h"
#include "libmli/src/exec/stage_lines.h"
#include "libmli/src/exec/stage_ways.h"
#include "libmli/src/exec/tuning.h"

/*
 * Matrices: blocks of many rows by a few cache lines of columns, so that the source is read in long
 * pieces.
 */

static void move_matrix_strip(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                              const uint8_t *src, const size_t *columns, size_t rows)
{
    const size_t k = walk->kernel, dst_step = walk->row[1].dst_step,
                 src_step = walk->col[1].src_step, total = walk->col[1].count << k;
    const size_t most = TUNED(stage_width), pitch = most + TUNE_LINE + dst_step % TUNE_LINE;
    uint8_t *at = stage_place(stage_lines(), dst);

    for (size_t begin = 0; begin < total; begin += most) {
        const size_t width = at_most(total - begin, most), end = begin + width;
        const uint8_t *from = src + (begin >> k) * src_step;
        struct stage_fetch next = {from + (width >> k) * src_step, columns,
                                   at_most(total - end, most) >> k, rows << k, 0};
        const size_t some = stage_fetch_share(&next, rows);

        leaf->transpose[k](at, pitch, from, src_step, rows, width >> k);
        for (size_t r = 0; r < rows; r++) {
            uint8_t *to = dst + r * dst_step + begin;

            stage_flush(leaf, to, at + r * pitch - (uintptr_t)to % TUNE_LINE, width, begin == 0,
                        end == total);
            stage_fetch_some(&next, some);
        }
    }
}

bool stage_is_matrix(const struct walk *walk)
{
    return walk->kind == WALK_TRANSPOSE && walk->row[1].count >= TUNE_MATRIX_ROWS &&
           walk->col[1].count << walk->kernel >= TUNE_LONG_ROW;
}

void stage_matrix(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                  const uint8_t *src)
{
    const size_t most = TUNED(stage_rows);
    size_t columns[TUNE_STAGE_WIDTH_MAX];

    for (size_t c = 0; c < TUNED(stage_width) >> walk->kernel; c++)
        columns[c] = c * walk->col[1].src_step;
    for (size_t r = 0; r < walk->row[1].count; r += most)
        move_matrix_strip(leaf, walk, dst + r * walk->row[1].dst_step, src + (r << walk->kernel),
                          columns, at_most(walk->row[1].count - r, most));
}

/* Panels: blocks of long rows; or, if rows are short and contiguous, blocks of such rows. */

enum {
    PANEL_COLUMN_MIN = 16, /* bytes of a column; there are no kernels for shorter columns */
};

/* Moves a strip of rows, a few lines of columns at a time. */
static void move_panel_strip(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                             const uint8_t *src, const size_t *dst_at, size_t rows)
{
    const size_t k = walk->kernel, cols = panel_width(walk), pitch = stage_pitch();
    const size_t most = at_most(TUNED(stage_width) >> k, TUNE_PANEL);
    const struct panel_columns columns = panel_columns(walk, src);
    struct panel_progress progress = {0, 0};
    size_t src_at[2][TUNE_PANEL], stage_at[TUNE_PANEL], now = 0;
    uint8_t *stage = stage_lines();

    for (size_t r = 0; r < rows; r++)
        stage_at[r] = r * pitch + (uintptr_t)(dst + dst_at[r]) % TUNE_LINE;
    panel_locate_columns(src_at[now], &columns, &progress, at_most(cols, most));
    for (size_t c = 0; c < cols; c += most, now ^= 1) {
        const size_t width = at_most(cols - c, most), after = at_most(cols - c - width, most);
        struct stage_fetch next = {columns.base, src_at[now ^ 1], after, rows << k, 0};
        const size_t some = stage_fetch_share(&next, rows);

        panel_locate_columns(src_at[now ^ 1], &columns, &progress, after);
        leaf->transpose_at[k](stage, stage_at, columns.base, src_at[now], rows, width);
        for (size_t r = 0; r < rows; r++) {
            stage_flush(leaf, dst + dst_at[r] + (c << k), stage + r * pitch, width << k, c == 0,
                        after == 0);
            stage_fetch_some(&next, some);
        }
    }
}

static void move_long_rows(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                           const uint8_t *src)
{
    const size_t rows = walk->row[0].count * walk->row[1].count;
    struct panel_progress progress = {0, 0};
    size_t dst_at[TUNE_PANEL];

    for (size_t r = 0; r < rows; r += TUNE_PANEL) {
        const size_t height = at_most(rows - r, TUNE_PANEL);

        panel_locate_rows(dst_at, walk->row, &progress, height);
        move_panel_strip(leaf, walk, dst, src + (r << walk->kernel), dst_at, height);
    }
}

/* Returns the number of rows of the outer loop in a block. */
static size_t rows_at_a_time(const struct walk *walk)
{
    const size_t row = panel_width(walk) << walk->kernel, slots = walk->row[1].count;
    const size_t fit = (STAGE_BYTES / slots - 2 * TUNE_LINE) / row;

    return at_most(walk->row[0].count, fit);
}

/* Moves some rows of the outer loop, with all rows of the inner loop, to slots of the stage. */
static void move_panel_to_slots(const struct leaf_table *leaf, const struct walk *walk,
                                uint8_t *dst, const struct panel_columns *columns,
                                const size_t *src_at, size_t slot, size_t count)
{
    const struct leaf_loop *outer = &walk->row[0], *inner = &walk->row[1];
    const size_t k = walk->kernel, cols = panel_width(walk), in_table = TUNE_PANEL / inner->count;
    size_t stage_at[TUNE_PANEL];

    for (size_t r = 0; r < count; r += in_table) {
        const size_t some = at_most(count - r, in_table);
        size_t *at = stage_at;

        for (size_t i = r; i < r + some; i++) {
            for (size_t s = 0; s < inner->count; s++)
                *at++ = s * slot + (uintptr_t)(dst + s * inner->dst_step) % TUNE_LINE +
                        i * outer->dst_step;
        }
        leaf->transpose_at[k](stage_lines(), stage_at, columns->base + r * outer->src_step, src_at,
                              some * inner->count, cols);
    }
}

static void move_short_rows(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                            const uint8_t *src)
{
    const struct leaf_loop *outer = &walk->row[0], *inner = &walk->row[1];
    const size_t k = walk->kernel, cols = panel_width(walk), row = cols << k;
    const size_t most = rows_at_a_time(walk);
    const size_t slot = (most * row / TUNE_LINE + 2) * TUNE_LINE;
    size_t src_at[TUNE_PANEL];

    for (size_t r = 0; r < outer->count; r += most) {
        const size_t some = at_most(outer->count - r, most),
                     after = at_most(outer->count - r - some, most);
        const struct panel_columns columns = panel_columns(walk, src + r * outer->src_step);
        struct panel_progress progress = {0, 0};
        struct stage_fetch next = {columns.base + some * outer->src_step, src_at, cols,
                                   after * outer->src_step, 0};
        const size_t share = stage_fetch_share(&next, inner->count);
        uint8_t *to = dst + r * row;

        panel_locate_columns(src_at, &columns, &progress, cols);
        move_panel_to_slots(leaf, walk, to, &columns, src_at, slot, some);
        for (size_t i = 0; i < inner->count; i++) {
            stage_flush(leaf, to + i * inner->dst_step, stage_lines() + i * slot, some * row,
                        r == 0, after == 0);
            if (after > 0)
                stage_fetch_some(&next, share);
        }
    }
}

static bool has_long_rows(const struct walk *walk)
{
    return panel_width(walk) << walk->kernel >= TUNE_LONG_ROW;
}

static bool has_short_rows(const struct walk *walk)
{
    const size_t cols = panel_width(walk), row = cols << walk->kernel;

    return walk->border.before + walk->border.after == 0 && walk->row[0].count > 1 &&
           walk->row[0].dst_step == row && cols <= TUNE_PANEL && row >= TUNE_LINE &&
           walk->row[1].count <= TUNE_PANEL / 4;
}

bool stage_is_panel(const struct walk *walk)
{
    const size_t rows = walk->row[0].count * walk->row[1].count;

    return walk->kind == WALK_TRANSPOSE_AT && rows << walk->kernel >= PANEL_COLUMN_MIN &&
           (has_long_rows(walk) || has_short_rows(walk));
}

void stage_panel(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                 const uint8_t *src)
{
    if (has_long_rows(walk))
        move_long_rows(leaf, walk, dst, src);
    else
        move_short_rows(leaf, walk, dst, src);
}

/* Streams a transpose to pixels: short rows that fill the destination one after another. */

bool stage_is_pixels(const struct walk *walk)
{
    const size_t pixel = walk->col[1].count << walk->kernel;

    return walk->kind == WALK_TRANSPOSE && pixel <= TUNE_PIXEL_MAX &&
           walk->row[1].dst_step == pixel && walk->row[1].count * pixel >= TUNE_STREAM_LONG;
}

void stage_pixels(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                  const uint8_t *src)
{
    const struct leaf_loop *row = &walk->row[1], *col = &walk->col[1];
    const size_t most = TUNED(stage_bytes) / row->dst_step;

    for (size_t r = 0; r < row->count; r += most) {
        const size_t count = at_most(row->count - r, most);
        uint8_t *to = dst + r * row->dst_step;

        leaf->transpose[walk->kernel](stage_place(stage_lines(), to), row->dst_step,
                                      src + (r << walk->kernel), col->src_step, count, col->count);
        stage_flush(leaf, to, stage_lines(), count * row->dst_step, r == 0,
                    r + count == row->count);
    }
}
