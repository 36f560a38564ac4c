/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include "geometry.h"

/* Samples [begin, end) of each source dimension. */
struct region {
    uint64_t begin[MLI_MAX_RANK], end[MLI_MAX_RANK];
};

/* Inserts a loop so that destination steps fall; one iteration is no loop. */
static void box_add_loop(struct mli_copy_box *box, struct mli_copy_loop loop)
{
    size_t at = box->loops;

    if (loop.count == 1)
        return;
    for (; at > 0 && box->loop[at - 1].dst_step < loop.dst_step; at--)
        box->loop[at] = box->loop[at - 1];
    box->loop[at] = loop;
    box->loops++;
}

/* Merges neighbours that step as one loop would, then the innermost loop into the run. */
static void box_merge(struct mli_copy_box *box)
{
    size_t kept = 0;

    for (size_t i = 1; i < box->loops; i++) {
        struct mli_copy_loop *outer = &box->loop[kept];
        const struct mli_copy_loop *inner = &box->loop[i];

        if (outer->dst_step == inner->count * inner->dst_step &&
            outer->src_step == inner->count * inner->src_step)
            *outer = (struct mli_copy_loop){outer->count * inner->count, inner->src_step,
                                            inner->dst_step};
        else
            box->loop[++kept] = *inner;
    }
    box->loops = box->loops ? kept + 1 : 0;
    if (box->loops && box->loop[kept].dst_step == box->run &&
        box->loop[kept].src_step == box->run) {
        box->run *= box->loop[kept].count;
        box->loops = kept;
    }
}

static void build_box(struct mli_copy_box *box, const struct geometry *g, const uint8_t *src,
                      uint8_t *dst)
{
    box->src = src;
    box->dst = dst;
    box->loops = 0;
    box->run = g->reads ? g->elem : 0;
    if (!g->reads)
        return;
    for (uint32_t d = 0; d < g->rank; d++) {
        const struct axis *a = &g->axis[d];

        box->src += a->first * a->src_stride * g->elem;
        box->dst += (a->dst_offset + a->lo) * a->dst_stride * g->elem;
        box_add_loop(box, (struct mli_copy_loop){a->hi - a->lo, a->step * a->src_stride * g->elem,
                                                 a->dst_stride * g->elem});
    }
    box_merge(box);
}

/* A slab is a box that reads nothing: with equal steps on both sides it merges the same way. */
static void add_slab(struct mli_plan *plan, const struct geometry *g, const struct region *region,
                     uint8_t *dst)
{
    struct mli_fill_slab *slab = &plan->slab[plan->slabs++];
    struct mli_copy_box box;

    box.run = g->elem;
    box.loops = 0;
    slab->dst = dst;
    for (uint32_t d = 0; d < g->rank; d++) {
        const struct axis *a = &g->axis[d];
        const size_t step = a->dst_stride * g->elem;

        slab->dst += (a->dst_offset + region->begin[d]) * step;
        box_add_loop(&box, (struct mli_copy_loop){region->end[d] - region->begin[d], step, step});
    }
    box_merge(&box);
    slab->run = box.run;
    slab->loops = box.loops;
    for (size_t i = 0; i < box.loops; i++)
        slab->loop[i] = (struct mli_fill_loop){box.loop[i].count, box.loop[i].dst_step};
}

/*
 * Cuts the padding off, one destination dimension after the other from the outermost on, so that
 * the first slabs are the long ones: what is left after both ends of a dimension are cut is
 * narrower for all that follow. What is left in the end is the copy box.
 */
static void build_slabs(struct mli_plan *plan, const struct geometry *g, uint8_t *dst)
{
    const struct axis *by_dst[MLI_MAX_RANK];
    struct region rest;

    for (uint32_t d = 0; d < g->rank; d++) {
        by_dst[g->axis[d].dst_dim] = &g->axis[d];
        rest.begin[d] = 0;
        rest.end[d] = g->axis[d].count;
    }
    for (uint32_t i = 0; i < g->rank; i++) {
        const struct axis *a = by_dst[i];
        const uint32_t d = (uint32_t)(a - g->axis);

        if (a->lo > 0) {
            rest.end[d] = a->lo;
            add_slab(plan, g, &rest, dst);
        }
        if (a->hi < a->count) {
            rest.begin[d] = a->hi;
            rest.end[d] = a->count;
            add_slab(plan, g, &rest, dst);
        }
        rest.begin[d] = a->lo;
        rest.end[d] = a->hi;
        if (a->lo == a->hi)
            return;
    }
}

void plan_build(struct mli_plan *plan, const struct geometry *g, const uint8_t *src, uint8_t *dst)
{
    plan->slabs = 0;
    plan->bytes = g->elem;
    for (uint32_t d = 0; d < g->rank; d++)
        plan->bytes *= g->axis[d].count;
    build_box(&plan->box, g, src, dst);
    build_slabs(plan, g, dst);
}
