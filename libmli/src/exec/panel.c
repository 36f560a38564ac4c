/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/exec/panel.h"

/* Zeros that serve as source of zero columns. */
static const uint8_t zeros[TUNE_PANEL * sizeof(uint64_t)];

/* Sets at[i] = first + i * step. Returns the end of the written entries. */
static size_t *count_up(size_t *at, size_t count, size_t first, size_t step)
{
    for (size_t i = 0; i < count; i++)
        at[i] = first + i * step;
    return at + count;
}

void panel_locate_rows(size_t *at, const struct leaf_loop *row, struct panel_progress *p,
                       size_t count)
{
    for (size_t *end = at + count; at < end;) {
        const size_t some = at_most((size_t)(end - at), row[1].count - p->inner);

        at = count_up(at, some, p->outer * row[0].dst_step + p->inner * row[1].dst_step,
                      row[1].dst_step);
        p->inner += some;
        if (p->inner == row[1].count)
            *p = (struct panel_progress){p->outer + 1, 0};
    }
}

static size_t zero_columns(const struct walk *walk)
{
    return (walk->border.before + walk->border.after) >> walk->kernel;
}

size_t panel_width(const struct walk *walk)
{
    return walk->col[0].count * (walk->col[1].count + zero_columns(walk));
}

/* The base is the lower address of the source and the zeros. */
struct panel_columns panel_columns(const struct walk *walk, const uint8_t *src)
{
    const size_t added = zero_columns(walk);

    return (struct panel_columns){
        .loop = walk->col,
        .before = walk->border.before >> walk->kernel,
        .width = walk->col[1].count + added,
        .src = src,
        .base = added > 0 && (uintptr_t)zeros < (uintptr_t)src ? zeros : src,
    };
}

void panel_locate_columns(size_t *at, const struct panel_columns *c, struct panel_progress *p,
                          size_t count)
{
    const size_t copied_end = c->before + c->loop[1].count, step = c->loop[1].src_step;
    const size_t first = (uintptr_t)c->src - (uintptr_t)c->base,
                 zero = (uintptr_t)zeros - (uintptr_t)c->base;

    for (size_t *end = at + count; at < end;) {
        const bool copied = p->inner >= c->before && p->inner < copied_end;
        const size_t until = copied ? copied_end : p->inner < c->before ? c->before : c->width;
        const size_t some = at_most((size_t)(end - at), until - p->inner);

        if (copied)
            at = count_up(at, some,
                          first + p->outer * c->loop[0].src_step + (p->inner - c->before) * step,
                          step);
        else
            at = count_up(at, some, zero, 0);
        p->inner += some;
        if (p->inner == c->width)
            *p = (struct panel_progress){p->outer + 1, 0};
    }
}

/*
 * Returns the rows or columns of the next panel. Avoids a last panel with so few of them that
 * kernels would take each alone.
 */
static size_t next_panel(size_t left, size_t most)
{
    enum { FEW = 16 };

    return left > most && left < most + FEW ? most / 2 : at_most(left, most);
}

static inline __attribute__((always_inline)) void transpose(const struct leaf_table *leaf,
                                                            const struct walk *walk, uint8_t *dst,
                                                            const uint8_t *src, size_t *dst_at,
                                                            size_t *src_at, size_t most)
{
    const size_t k = walk->kernel, rows = walk->row[0].count * walk->row[1].count,
                 cols = panel_width(walk);
    struct panel_progress row_progress = {0, 0};

    for (size_t r = 0, height; r < rows; r += height) {
        const struct panel_columns columns = panel_columns(walk, src + (r << k));
        struct panel_progress progress = {0, 0};

        height = next_panel(rows - r, most);
        panel_locate_rows(dst_at, walk->row, &row_progress, height);
        for (size_t c = 0, width; c < cols; c += width) {
            width = next_panel(cols - c, most);
            panel_locate_columns(src_at, &columns, &progress, width);
            leaf->transpose_at[k](dst + (c << k), dst_at, columns.base, src_at, height, width);
        }
    }
}

/* Not inlined: otherwise the larger tables would be on the stack, too. */
static __attribute__((noinline)) void transpose_small(const struct leaf_table *leaf,
                                                      const struct walk *walk, uint8_t *dst,
                                                      const uint8_t *src)
{
    size_t dst_at[TUNE_PANEL_SMALL], src_at[TUNE_PANEL_SMALL];

    transpose(leaf, walk, dst, src, dst_at, src_at, TUNE_PANEL_SMALL);
}

static __attribute__((noinline)) void transpose_large(const struct leaf_table *leaf,
                                                      const struct walk *walk, uint8_t *dst,
                                                      const uint8_t *src)
{
    size_t dst_at[TUNE_PANEL], src_at[TUNE_PANEL];

    transpose(leaf, walk, dst, src, dst_at, src_at, TUNED(panel_rows));
}

void panel_transpose(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                     const uint8_t *src)
{
    (leaf->small_panels ? transpose_small : transpose_large)(leaf, walk, dst, src);
}
