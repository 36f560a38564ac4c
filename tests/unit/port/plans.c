/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/port/plans.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SPACE = 64 * 1024 }; /* space in bytes for one descriptor, in source and in destination */

uint8_t plan_src[PLAN_SRC_BYTES + 64], plan_dst[PLAN_DST_BYTES + 64];

/*
 * Makes random loops, beginning with the innermost, as long as there is space. The step of each
 * loop is larger than the range of the loops inside it.
 */
static void random_box(struct mli_copy_box *box, struct rng *rng)
{
    const uint32_t wanted = rng_below(rng, MLI_MAX_RANK + 1);
    const uint32_t most = rng_chance(rng, 50) ? 5 : 40;
    struct mli_copy_loop loops[MLI_MAX_RANK];
    size_t extent;

    box->run = rng_chance(rng, 30) ? rng_between(rng, 1, 3) : rng_between(rng, 1, 300);
    box->loops = 0;
    extent = box->run;
    for (uint32_t i = 0; i < wanted; i++) {
        struct mli_copy_loop loop = {
            .count = rng_between(rng, 2, most),
            .dst_step = extent + (rng_chance(rng, 40) ? 0 : rng_below(rng, 100)),
            .src_step = rng_below(rng, 900),
        };

        if (loop.dst_step * loop.count > SPACE)
            break;
        extent += loop.dst_step * (loop.count - 1);
        loops[box->loops++] = loop;
    }
    for (size_t i = 0; i < box->loops; i++)
        box->loop[i] = loops[box->loops - 1 - i];
}

void plan_random(struct mli_plan *plan, struct rng *rng)
{
    const uint32_t slabs = rng_chance(rng, 50) ? 0 : rng_below(rng, MLI_PLAN_SLABS_MAX + 1);
    struct mli_copy_box box;

    memset(plan, 0, sizeof(*plan));
    if (slabs == 0 || rng_chance(rng, 80)) {
        random_box(&plan->box, rng);
        plan->box.src = plan_src + rng_below(rng, 64);
        plan->box.dst = plan_dst + rng_below(rng, 64);
        plan->bytes = plan->box.run * (size_t)plan_rows(&plan->box);
    }
    for (plan->slabs = 0; plan->slabs < slabs; plan->slabs++) {
        struct mli_fill_slab *slab = &plan->slab[plan->slabs];

        random_box(&box, rng);
        slab->dst = plan_dst + (plan->slabs + 1) * (SPACE + 512) + rng_below(rng, 64);
        slab->run = box.run;
        slab->loops = box.loops;
        for (size_t i = 0; i < box.loops; i++)
            slab->loop[i] = (struct mli_fill_loop){box.loop[i].count, box.loop[i].dst_step};
        plan->bytes += box.run * (size_t)plan_rows(&box);
    }
}

void plan_one_box(struct mli_plan *plan, size_t misalignment, size_t run, size_t loops,
                  const struct mli_copy_loop *loop)
{
    memset(plan, 0, sizeof(*plan));
    plan->box.src = plan_src;
    plan->box.dst = plan_dst + (64 - (uintptr_t)plan_dst % 64) % 64 + misalignment;
    plan->box.run = run;
    plan->box.loops = loops;
    if (loops > 0)
        memcpy(plan->box.loop, loop, loops * sizeof(loop[0]));
    plan->bytes = run * (size_t)plan_rows(&plan->box);
}

struct mli_copy_box plan_descriptor(const struct mli_plan *plan, uint32_t index)
{
    const struct mli_fill_slab *slab = &plan->slab[index - 1];
    struct mli_copy_box box = {0};

    if (index == 0)
        return plan->box;
    box.dst = slab->dst;
    box.run = slab->run;
    box.loops = slab->loops;
    for (size_t i = 0; i < slab->loops; i++) {
        box.loop[i].count = slab->loop[i].count;
        box.loop[i].dst_step = slab->loop[i].step;
    }
    return box;
}

uint64_t plan_rows(const struct mli_copy_box *box)
{
    uint64_t rows = 1;

    for (size_t i = 0; i < box->loops; i++)
        rows *= box->loop[i].count;
    return rows;
}

void plan_row(const struct mli_copy_box *box, uint64_t row, const uint8_t **src, uint8_t **dst)
{
    *src = box->src;
    *dst = box->dst;
    for (size_t i = box->loops; i-- > 0; row /= box->loop[i].count) {
        const size_t at = (size_t)(row % box->loop[i].count);

        *dst += at * box->loop[i].dst_step;
        if (*src)
            *src += at * box->loop[i].src_step;
    }
}

void moved_clear(struct moved *moved)
{
    memset(moved->times, 0, sizeof(moved->times));
    moved->bytes = 0;
    moved->end = 0;
}

void moved_add_box(struct moved *moved, const struct mli_copy_box *box)
{
    const uint64_t rows = box->run > 0 ? plan_rows(box) : 0;

    for (uint64_t row = 0; row < rows; row++) {
        const uint8_t *src;
        uint8_t *dst;

        plan_row(box, row, &src, &dst);
        for (size_t i = 0; i < box->run; i++) {
            const size_t to = (size_t)(dst - plan_dst) + i;

            moved->from[to] = src ? (int32_t)(src + i - plan_src) : MOVED_ZERO;
            moved->times[to]++;
            moved->end = to >= moved->end ? to + 1 : moved->end;
        }
        moved->bytes += box->run;
    }
}

void moved_add_plan(struct moved *moved, const struct mli_plan *plan)
{
    for (uint32_t i = 0; i <= plan->slabs; i++) {
        const struct mli_copy_box box = plan_descriptor(plan, i);

        moved_add_box(moved, &box);
    }
}

bool moved_same(const struct moved *a, const struct moved *b)
{
    if (a->end != b->end || memcmp(a->times, b->times, a->end) != 0)
        return false;
    for (size_t i = 0; i < a->end; i++) {
        if (a->times[i] > 1 || (a->times[i] == 1 && a->from[i] != b->from[i]))
            return false;
    }
    return true;
}

void plan_print(const struct mli_plan *plan)
{
    for (uint32_t i = 0; i <= plan->slabs; i++) {
        const struct mli_copy_box box = plan_descriptor(plan, i);

        printf("  %" PRIu32 ": dst+%td, run %zu", i, box.dst ? box.dst - plan_dst : 0, box.run);
        for (size_t k = 0; k < box.loops; k++)
            printf(", %zu x (%zu -> %zu)", box.loop[k].count, box.loop[k].src_step,
                   box.loop[k].dst_step);
        printf("\n");
    }
}
