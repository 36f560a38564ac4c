/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/exec/walk.h"

#include "libmli/src/exec/tuning.h"

/* Zeros that serve as source of zero columns. */
static const uint8_t blank[TUNE_PANEL * sizeof(uint64_t)];

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
        .base = added > 0 && (uintptr_t)blank < (uintptr_t)src ? blank : src,
    };
}

void panel_locate_columns(size_t *at, const struct panel_columns *c, struct panel_progress *p,
                          size_t count)
{
    const size_t copied_end = c->before + c->loop[1].count, step = c->loop[1].src_step;
    const size_t first = (uintptr_t)c->src - (uintptr_t)c->base,
                 zero = (uintptr_t)blank - (uintptr_t)c->base;

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
 * Returns the number of rows or columns of the next panel. Avoids a last panel with so few rows or
 * columns that kernels would move them one by one.
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

/* Not inlined: otherwise the larger tables would also be on the stack. */
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

static void panel_transpose(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                            const uint8_t *src)
{
    (leaf->small_panels ? transpose_small : transpose_large)(leaf, walk, dst, src);
}

enum { LANE = 16 }; /* bytes of a vector lane; there are kernels for shorter columns */

static const struct leaf_loop once = {1, 0, 0};

/* The choice of a walk: each loop of the box is taken by the walk, one after the other. */
struct choice {
    const struct mli_copy_box *box;
    uint32_t taken; /* bit i is set: the walk has taken loop i */
};

static bool is_free(const struct choice *choice, size_t i)
{
    return i < choice->box->loops && !(choice->taken & 1u << i);
}

static struct leaf_loop take(struct choice *choice, size_t i)
{
    const struct mli_copy_loop *loop = &choice->box->loop[i];

    if (!is_free(choice, i))
        return once;
    choice->taken |= 1u << i;
    return (struct leaf_loop){loop->count, loop->dst_step, loop->src_step};
}

/* Returns the index of the loop that the walk has not taken and that has this step in the source;
 * or the number of loops. */
static size_t find_src_step(const struct choice *choice, size_t step)
{
    size_t i = 0;

    while (i < choice->box->loops && !(is_free(choice, i) && choice->box->loop[i].src_step == step))
        i++;
    return i;
}

/* Like find_src_step(), for the step in the destination. */
static size_t find_dst_step(const struct choice *choice, size_t step)
{
    size_t i = 0;

    while (i < choice->box->loops && !(is_free(choice, i) && choice->box->loop[i].dst_step == step))
        i++;
    return i;
}

/* Returns the index of the innermost free loop, or the number of loops. */
static size_t find_innermost(const struct choice *choice)
{
    for (size_t i = choice->box->loops; i-- > 0;) {
        if (is_free(choice, i))
            return i;
    }
    return choice->box->loops;
}

/* Returns the index of the kernel for elements of `run` bytes: 0 to 3, or 4 if there is none. */
static size_t kernel_for(size_t run)
{
    return run == 1 ? 0 : run == 2 ? 1 : run == 4 ? 2 : run == 8 ? 3 : 4;
}

/*
 * Returns whether to move the zeros beside the columns as if they were columns. A part of a move
 * may have zeros of less than an element: these cannot be columns.
 */
static bool is_columns(const struct leaf_border *border, const struct mli_copy_box *box,
                       size_t columns)
{
    const size_t zeros = border->before | border->after, elem = box->run;

    return zeros > 0 && zeros % elem == 0 && columns * elem < TUNE_BORDERED_ROW &&
           (columns <= TUNE_BORDERED_COLUMNS ||
            elem * box_rows(box) > TUNED(second_level_bytes) / 2);
}

/*
 * Returns the minimum length in bytes of a row or a column of a transpose. Shorter ones are merged
 * with another loop. The minimum is lower if the other side is also short and is not merged: merged
 * loops need tables of addresses, and with tables such transposes are slow.
 */
static size_t merge_below(size_t other, bool other_merges)
{
    return other < LANE && !other_merges ? LANE : TUNE_MERGE_BELOW;
}

/*
 * Chooses the rows and columns of a transpose. Kernels are slow for few rows or few columns, so
 * these are merged with another loop: columns with the loop whose next iteration follows them in
 * the destination, rows with the loop whose next iteration follows them in the source. If columns
 * are merged, rows always are. Zeros beside few columns are moved as columns too.
 */
static void choose_transpose(struct walk *walk, struct choice *choice, size_t rows,
                             const struct leaf_border *border)
{
    const size_t elem = choice->box->run;
    struct leaf_loop *row = walk->row, *col = walk->col;
    size_t width, height; /* bytes of a row of the destination, and of a column of the source */

    walk->kind = WALK_TRANSPOSE;
    col[1] = take(choice, choice->box->loops - 1);
    row[1] = take(choice, rows);
    col[0] = row[0] = once;
    width = col[1].count * elem;
    height = row[1].count * elem;
    if (height >= LANE && is_columns(border, choice->box, col[1].count)) {
        walk->border = *border;
        width += border->before + border->after;
    }
    if (width < merge_below(height, find_src_step(choice, height) < choice->box->loops) ||
        width > col[1].count * elem)
        col[0] = take(choice, find_dst_step(choice, width));
    if (height < merge_below(width, col[0].count > 1) || col[0].count > 1)
        row[0] = take(choice, find_src_step(choice, height));
    if (col[0].count > 1 || row[0].count > 1 || width > col[1].count * elem)
        walk->kind = WALK_TRANSPOSE_AT;
}

/*
 * Of the loops that the walk has not taken, returns the index of the one with the smallest step in
 * the source. Returns the number of loops if all are taken.
 */
static size_t find_nearest(const struct choice *choice)
{
    size_t nearest = find_innermost(choice);

    for (size_t i = 0; i < choice->box->loops; i++)
        if (is_free(choice, i) &&
            choice->box->loop[i].src_step < choice->box->loop[nearest].src_step)
            nearest = i;
    return nearest;
}

/*
 * Rows are moved in the order of the destination, with one exception. If the elements of a row are
 * in different cache lines of the source, and the same lines have elements of other rows, these
 * rows are moved next, while the lines are in the cache.
 */
static void choose_gather(struct walk *walk, struct choice *choice)
{
    size_t rows, nearest;

    walk->kind = WALK_GATHER;
    walk->col[1] = take(choice, choice->box->loops - 1);
    walk->block = walk->col[1].count;
    rows = find_innermost(choice);
    nearest = find_nearest(choice);
    if (walk->col[1].src_step >= TUNE_LINE && nearest < choice->box->loops &&
        choice->box->loop[nearest].src_step < TUNE_LINE) {
        rows = nearest;
        if (walk->block > TUNED(gather_lines))
            walk->block = TUNED(gather_lines);
    }
    walk->nest.inner = take(choice, rows);
    walk->nest.outer = take(choice, find_innermost(choice));
}

/* Returns the number of rows in one iteration of a loop: those of all loops inside it. */
static size_t rows_inside(const struct mli_copy_box *box, size_t loop)
{
    size_t rows = 1;

    for (size_t i = loop + 1; i < box->loops; i++)
        rows *= box->loop[i].count;
    return rows;
}

/*
 * Rows are moved in the order of the destination, with one exception. If rows are short, the rows
 * beside them in the source are moved next, so that whole cache lines and pages are used.
 */
static void choose_rows(struct walk *walk, struct choice *choice, const struct leaf_border *border)
{
    const struct mli_copy_box *box = choice->box;
    const size_t run = box->run, most = TUNED(burst_bytes) / run;
    size_t neighbour;

    walk->kind = WALK_ROWS;
    if (border->run == run)
        walk->border = *border;
    walk->nest.inner = take(choice, find_innermost(choice));
    walk->block = walk->nest.inner.count;
    neighbour = find_nearest(choice);
    if (run < TUNE_SHORT_ROW && neighbour < box->loops &&
        box->loop[neighbour].src_step < at_most(walk->nest.inner.src_step, TUNE_SHORT_ROW) &&
        rows_inside(box, neighbour) > most && box_bytes(box) > TUNED(second_level_bytes))
        walk->block = at_most(walk->block, most);
    else
        neighbour = find_innermost(choice);
    walk->nest.outer = take(choice, neighbour);
}

bool walk_init(struct walk *walk, const struct mli_copy_box *box, const struct leaf_border *border)
{
    struct choice choice = {box, 0};
    const size_t last = box->loops - 1, contiguous = find_src_step(&choice, box->run);
    size_t i = MLI_MAX_RANK;

    walk->border = (struct leaf_border){0, box->run, 0};
    walk->above = walk->below = 0;
    walk->kernel = kernel_for(box->run);
    if (box->loops == 0 || walk->kernel == 4 || box->loop[last].dst_step != box->run)
        choose_rows(walk, &choice, border);
    else if (contiguous < box->loops)
        choose_transpose(walk, &choice, contiguous, border);
    else
        choose_gather(walk, &choice);
    walk->nest.dst = box->dst - walk->border.before;
    walk->nest.src = box->src;
    walk->nest.ahead = 0;
    for (size_t innermost; (innermost = find_innermost(&choice)) < box->loops;)
        walk->around[--i] = take(&choice, innermost);
    while (i > 0)
        walk->around[--i] = once;
    return walk->border.before == border->before && walk->border.after == border->after;
}

void walk_move_rows(const struct leaf_table *leaf, const struct walk *walk,
                    const struct leaf_nest *nest)
{
    if (walk->kind == WALK_GATHER)
        leaf->gather[walk->kernel](nest, walk->col[1].src_step, walk->col[1].count);
    else if (walk->border.before + walk->border.after > 0)
        leaf->bordered(nest, &walk->border);
    else
        leaf->rows(nest, walk->border.run);
}

static void move_rows(const struct leaf_table *leaf, const struct walk *walk,
                      const struct leaf_nest *nest)
{
    const struct leaf_loop *inner = &nest->inner;
    struct leaf_nest part = *nest;

    for (size_t i = 0; i < inner->count; i += walk->block) {
        part.dst = nest->dst + i * inner->dst_step;
        part.src = nest->src + i * inner->src_step;
        part.inner.count = at_most(inner->count - i, walk->block);
        walk_move_rows(leaf, walk, &part);
    }
}

/*
 * Moves a few planes at a time, so that their zeros are written while the lines are in the cache.
 */
static void move_planes(const struct leaf_table *leaf, const struct walk *walk,
                        const struct leaf_nest *nest)
{
    const size_t rows = nest->inner.count * walk_row(walk), plane = nest->outer.dst_step;
    const size_t most = plane > 0 && plane < TUNED(planes_bytes) ? TUNED(planes_bytes) / plane : 1;
    struct leaf_nest part = *nest;

    for (size_t i = 0; i < nest->outer.count; i += most) {
        part.outer.count = at_most(nest->outer.count - i, most);
        part.dst = nest->dst + i * plane;
        part.src = nest->src + i * nest->outer.src_step;
        walk_move_rows(leaf, walk, &part);
        if (walk->above > 0)
            leaf->fill(part.dst - walk->above, 0, walk->above, 1);
        if (part.outer.count > 1)
            leaf->fill(part.dst + rows, plane, walk->below + walk->above, part.outer.count - 1);
        if (walk->below > 0)
            leaf->fill(part.dst + (part.outer.count - 1) * plane + rows, 0, walk->below, 1);
    }
}

bool walk_take_zeros(struct walk *walk, size_t above, size_t below)
{
    const struct leaf_nest *nest = &walk->nest;
    const size_t rows = nest->inner.count * walk_row(walk);

    if (walk->kind != WALK_ROWS || walk->block != nest->inner.count || rows > TUNED(planes_bytes) ||
        (nest->inner.count > 1 && nest->inner.dst_step != walk_row(walk)) ||
        nest->outer.count == 1 || nest->outer.dst_step != above + rows + below)
        return false;
    walk->above = above;
    walk->below = below;
    return true;
}

static void move_gathers(const struct leaf_table *leaf, const struct walk *walk,
                         const struct leaf_nest *nest)
{
    const size_t step = walk->col[1].src_step, cols = walk->col[1].count;
    struct leaf_nest part = *nest;

    for (size_t c = 0; c < cols; c += walk->block) {
        part.dst = nest->dst + (c << walk->kernel);
        part.src = nest->src + c * step;
        leaf->gather[walk->kernel](&part, step, at_most(cols - c, walk->block));
    }
}

void walk_move(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
               const uint8_t *src)
{
    struct leaf_nest nest = walk->nest;

    nest.dst = dst;
    nest.src = src;
    if (walk->kind == WALK_TRANSPOSE)
        leaf->transpose[walk->kernel](dst, walk->row[1].dst_step, src, walk->col[1].src_step,
                                      walk->row[1].count, walk->col[1].count);
    else if (walk->kind == WALK_TRANSPOSE_AT)
        panel_transpose(leaf, walk, dst, src);
    else if (walk->kind == WALK_GATHER)
        move_gathers(leaf, walk, &nest);
    else if (walk->above + walk->below > 0)
        move_planes(leaf, walk, &nest);
    else
        move_rows(leaf, walk, &nest);
}
