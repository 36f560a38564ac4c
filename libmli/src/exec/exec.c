/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec.h"

#include "leaf.h"
#include "level.h"
#include "panel.h"
#include "walk.h"

static void move_rows(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                      const uint8_t *src)
{
    const struct leaf_loop *inner = &walk->nest.inner;
    struct leaf_nest nest = walk->nest;

    for (size_t i = 0; i < inner->count; i += walk->block) {
        nest.dst = dst + i * inner->dst_step;
        nest.src = src + i * inner->src_step;
        nest.inner.count = inner->count - i < walk->block ? inner->count - i : walk->block;
        if (walk->border.before + walk->border.after > 0)
            leaf->bordered(&nest, &walk->border);
        else
            leaf->rows(&nest, walk->border.run);
    }
}

static void move_picks(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                       const uint8_t *src)
{
    const size_t step = walk->col[1].src_step, cols = walk->col[1].count;
    struct leaf_nest nest = walk->nest;

    for (size_t c = 0; c < cols; c += walk->block) {
        nest.dst = dst + (c << walk->kernel);
        nest.src = src + c * step;
        leaf->pick[walk->kernel](&nest, step, cols - c < walk->block ? cols - c : walk->block);
    }
}

/* What the kernel moves in one iteration of the loops around it. */
static void move(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                 const uint8_t *src)
{
    if (walk->kind == WALK_TRANSPOSE)
        leaf->transpose[walk->kernel](dst, walk->row[1].dst_step, src, walk->col[1].src_step,
                                      walk->row[1].count, walk->col[1].count);
    else if (walk->kind == WALK_TRANSPOSE_AT)
        panel_transpose(leaf, walk, dst, src);
    else if (walk->kind == WALK_PICK)
        move_picks(leaf, walk, dst, src);
    else
        move_rows(leaf, walk, dst, src);
}

static void copy(const struct mli_copy_box *box)
{
    const struct leaf_table *leaf = level_leaf();
    struct walk walk;
    const struct leaf_loop *a = &walk.around[MLI_MAX_RANK - 3], *b = a + 1, *c = b + 1;

    walk_init(&walk, box);
    for (size_t i = 0; i < a->count; i++) {
        for (size_t j = 0; j < b->count; j++) {
            uint8_t *dst = box->dst + i * a->dst_step + j * b->dst_step;
            const uint8_t *src = box->src + i * a->src_step + j * b->src_step;

            for (size_t k = 0; k < c->count; k++)
                move(leaf, &walk, dst + k * c->dst_step, src + k * c->src_step);
        }
    }
}

/* Zeros over the loops, as many as there are, around rows of the innermost one. */
static void fill(uint8_t *dst, size_t run, const struct mli_fill_loop *nest, size_t loops)
{
    const struct leaf_table *leaf = level_leaf();
    const struct mli_fill_loop once = {1, 0};
    struct mli_fill_loop loop[MLI_MAX_RANK];
    size_t at = MLI_MAX_RANK;

    while (loops > 0)
        loop[--at] = nest[--loops];
    while (at > 0)
        loop[--at] = once;
    for (size_t i = 0; i < loop[0].count; i++)
        for (size_t j = 0; j < loop[1].count; j++)
            for (size_t k = 0; k < loop[2].count; k++)
                leaf->fill(dst + i * loop[0].step + j * loop[1].step + k * loop[2].step,
                           loop[3].step, run, loop[3].count);
}

void exec_box(const struct mli_copy_box *box)
{
    struct mli_fill_loop loop[MLI_MAX_RANK];

    if (box->src) {
        copy(box);
        return;
    }
    for (size_t i = 0; i < box->loops; i++)
        loop[i] = (struct mli_fill_loop){box->loop[i].count, box->loop[i].dst_step};
    fill(box->dst, box->run, loop, box->loops);
}

void exec_run(const struct mli_plan *plan)
{
    if (plan->box.run > 0)
        copy(&plan->box);
    for (size_t i = 0; i < plan->slabs; i++)
        fill(plan->slab[i].dst, plan->slab[i].run, plan->slab[i].loop, plan->slab[i].loops);
}
