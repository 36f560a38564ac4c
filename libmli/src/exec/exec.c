/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec.h"

#include "leaf.h"
#include "level.h"

enum { OUTER_MAX = MLI_MAX_RANK - 1 };

/* What one leaf call does, and the loops around it. */
struct walk {
    leaf_transpose *transpose; /* one of them, or neither: rows */
    leaf_pick *pick;
    size_t run;
    struct mli_copy_loop row;              /* of the rows; of a transpose's destination rows */
    struct mli_copy_loop col;              /* of a transpose's or pick's destination columns */
    struct mli_copy_loop outer[OUTER_MAX]; /* outermost first, unused ones once around */
};

/* Index of the loop along which the source is contiguous; the number of loops if there is none. */
static size_t find_src_contiguous(const struct mli_copy_box *box)
{
    size_t i = 0;

    while (i < box->loops && box->loop[i].src_step != box->run)
        i++;
    return i;
}

/* Index of an element's kernel in a table of four; 4 where there is none. */
static size_t kernel_for(size_t run)
{
    return run == 1 ? 0 : run == 2 ? 1 : run == 4 ? 2 : run == 8 ? 3 : 4;
}

/*
 * Elements whose innermost loop writes neighbours are a transpose where the reads are neighbours
 * along another loop, and else picked from where they lie apart. Everything else is rows along the
 * innermost loop.
 */
static void plan_walk(struct walk *walk, const struct mli_copy_box *box)
{
    const struct leaf_table *leaf = level_leaf();
    const struct mli_copy_loop once = {1, 0, 0};
    const size_t inner = box->loops - 1, contiguous = find_src_contiguous(box);
    const size_t kernel = kernel_for(box->run);
    size_t row = inner, outer = OUTER_MAX;

    walk->run = box->run;
    walk->transpose = NULL;
    walk->pick = NULL;
    walk->row = once;
    walk->col = once;
    if (box->loops && kernel < 4 && box->loop[inner].dst_step == box->run) {
        walk->col = box->loop[inner];
        if (contiguous < box->loops) {
            walk->transpose = leaf->transpose[kernel];
            row = contiguous;
        } else {
            walk->pick = leaf->pick[kernel];
            row = inner - 1; /* none where inner is 0 */
        }
    }
    if (row < box->loops)
        walk->row = box->loop[row];
    for (size_t i = box->loops; i-- > 0;) {
        if (i != row && !(i == inner && (walk->transpose || walk->pick)))
            walk->outer[--outer] = box->loop[i];
    }
    while (outer > 0)
        walk->outer[--outer] = once;
}

static void call_leaf(const struct walk *walk, uint8_t *dst, const uint8_t *src)
{
    if (walk->transpose)
        walk->transpose(dst, walk->row.dst_step, src, walk->col.src_step, walk->row.count,
                        walk->col.count);
    else if (walk->pick)
        walk->pick(dst, walk->row.dst_step, src, walk->row.src_step, walk->col.src_step,
                   walk->row.count, walk->col.count);
    else
        level_leaf()->rows(dst, walk->row.dst_step, src, walk->row.src_step, walk->run,
                           walk->row.count);
}

static void copy(const struct mli_copy_box *box)
{
    struct walk walk;
    const struct mli_copy_loop *a = &walk.outer[0], *b = &walk.outer[1], *c = &walk.outer[2];

    plan_walk(&walk, box);
    for (size_t i = 0; i < a->count; i++) {
        for (size_t j = 0; j < b->count; j++) {
            uint8_t *dst = box->dst + i * a->dst_step + j * b->dst_step;
            const uint8_t *src = box->src + i * a->src_step + j * b->src_step;

            for (size_t k = 0; k < c->count; k++)
                call_leaf(&walk, dst + k * c->dst_step, src + k * c->src_step);
        }
    }
}

/* Zeros over the loops, as many as there are, around rows of the innermost one. */
static void fill(uint8_t *dst, size_t run, const struct mli_fill_loop *nest, size_t loops)
{
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
                level_leaf()->fill(dst + i * loop[0].step + j * loop[1].step + k * loop[2].step,
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
