/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/plan.h"

#include "libmli/src/geometry.h"

/* Samples [begin, end) along a dimension, and the distance of neighbours in bytes. */
struct range {
    uint64_t begin, end;
    size_t step;
};

/*
 * Adds a loop inside the existing loops, or merges it with the innermost one if both step like one
 * loop. Drops a loop with a count of 1. Returns the new number of loops.
 */
static inline size_t add_loop(struct mli_copy_loop *loop, size_t loops, size_t count,
                              size_t src_step, size_t dst_step)
{
    if (count == 1)
        return loops;
    if (loops > 0 && loop[loops - 1].dst_step == count * dst_step &&
        loop[loops - 1].src_step == count * src_step)
        count *= loop[--loops].count;
    loop[loops] = (struct mli_copy_loop){count, src_step, dst_step};
    return loops + 1;
}

/* Merges a loop over contiguous neighbours into the run. Returns the remaining number of loops. */
static inline size_t merge_run(const struct mli_copy_loop *loop, size_t loops, size_t *run)
{
    if (loops == 0 || loop[loops - 1].dst_step != *run || loop[loops - 1].src_step != *run)
        return loops;
    *run *= loop[loops - 1].count;
    return loops - 1;
}

static inline void build_box(struct mli_copy_box *box, const struct geometry *g, const uint8_t *src,
                             uint8_t *dst)
{
    const size_t elem = g->elem;
    size_t loops = 0;

    dst += g->written.begin;
    for (uint32_t i = 0; i < g->rank; i++) {
        const struct axis *a = &g->axis[g->order[i]];
        const size_t dst_step = a->dst_stride * elem;

        dst += a->lo * dst_step;
        loops = add_loop(box->loop, loops, a->hi - a->lo, a->step * a->src_stride * elem, dst_step);
    }
    box->src = src + g->read.begin;
    box->dst = dst;
    box->run = elem;
    box->loops = merge_run(box->loop, loops, &box->run);
}

/*
 * Adds a slab. A slab is a box without a source. To merge its loops as those of a box, it gets
 * source steps that are equal to the destination's.
 */
static void add_slab(struct mli_plan *plan, const struct geometry *g, const struct range *range,
                     uint8_t *dst)
{
    struct mli_fill_slab *slab = &plan->slab[plan->slabs++];
    struct mli_copy_loop loop[MLI_MAX_RANK];
    size_t loops = 0;

    for (uint32_t i = 0; i < g->rank; i++) {
        dst += range[i].begin * range[i].step;
        loops = add_loop(loop, loops, range[i].end - range[i].begin, range[i].step, range[i].step);
    }
    slab->dst = dst;
    slab->run = g->elem;
    slab->loops = merge_run(loop, loops, &slab->run);
    for (size_t i = 0; i < slab->loops; i++)
        slab->loop[i] = (struct mli_fill_loop){loop[i].count, loop[i].dst_step};
}

/* Adds a copy of the last slab, `distance` bytes further. */
static void add_same_slab(struct mli_plan *plan, size_t distance)
{
    const struct mli_fill_slab *last = &plan->slab[plan->slabs - 1];
    struct mli_fill_slab *slab = &plan->slab[plan->slabs++];

    slab->dst = last->dst + distance;
    slab->run = last->run;
    slab->loops = last->loops;
    for (size_t i = 0; i < last->loops; i++)
        slab->loop[i] = last->loop[i];
}

/*
 * Cuts the padding off, one dimension after another from the outermost of the destination inwards,
 * so that the first slabs have the longest runs. Both ends of a dimension are cut before the next
 * dimension, so later slabs are narrower. The remaining range is the copy box.
 */
static void build_slabs(struct mli_plan *plan, const struct geometry *g, uint8_t *dst)
{
    struct range rest[MLI_MAX_RANK];

    dst += g->written.begin;
    for (uint32_t i = 0; i < g->rank; i++) {
        const struct axis *a = &g->axis[g->order[i]];

        rest[i] = (struct range){0, a->count, a->dst_stride * g->elem};
    }
    for (uint32_t i = 0; i < g->rank; i++) {
        const struct axis *a = &g->axis[g->order[i]];

        if (a->lo > 0) {
            rest[i].end = a->lo;
            add_slab(plan, g, rest, dst);
        }
        if (a->lo > 0 && a->lo == a->count - a->hi) {
            add_same_slab(plan, a->hi * rest[i].step);
        } else if (a->hi < a->count) {
            rest[i].begin = a->hi;
            rest[i].end = a->count;
            add_slab(plan, g, rest, dst);
        }
        rest[i].begin = a->lo;
        rest[i].end = a->hi;
        if (a->lo == a->hi)
            return;
    }
}

static inline void build_copy(struct mli_plan *plan, const struct geometry *g, const uint8_t *src,
                              uint8_t *dst)
{
    plan->bytes = g->samples * g->elem;
    if (g->reads)
        build_box(&plan->box, g, src, dst);
    else
        plan->box = (struct mli_copy_box){.src = src, .dst = dst};
    plan->slabs = 0;
}

void plan_build_over_zeros(struct mli_plan *plan, const struct geometry *g, const uint8_t *src,
                           uint8_t *dst)
{
    build_copy(plan, g, src, dst);
}

void plan_build(struct mli_plan *plan, const struct geometry *g, const uint8_t *src, uint8_t *dst)
{
    build_copy(plan, g, src, dst);
    if (g->pads)
        build_slabs(plan, g, dst);
}

void plan_clear(struct mli_plan *plan)
{
    plan->bytes = 0;
    plan->slabs = 0;
    plan->box.run = 0;
    plan->box.loops = 0;
}

/* Drops loops with a count of 1. */
static void drop_single_loops(struct mli_copy_box *box)
{
    size_t kept = 0;

    for (size_t i = 0; i < box->loops; i++) {
        if (box->loop[i].count > 1)
            box->loop[kept++] = box->loop[i];
    }
    box->loops = kept;
}

void plan_add_box(struct mli_plan *plan, struct mli_copy_box *box)
{
    struct mli_fill_slab *slab;

    plan->bytes += box_bytes(box);
    drop_single_loops(box);
    if (box->src) {
        plan->box = *box;
        return;
    }
    slab = &plan->slab[plan->slabs++];
    *slab = (struct mli_fill_slab){.dst = box->dst, .run = box->run, .loops = box->loops};
    for (size_t i = 0; i < box->loops; i++)
        slab->loop[i] = (struct mli_fill_loop){box->loop[i].count, box->loop[i].dst_step};
}
