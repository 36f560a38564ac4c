/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/exec/exec.h"

#include "libmli/src/build.h"
#include "libmli/src/exec/border.h"
#include "libmli/src/exec/leaf.h"
#include "libmli/src/exec/level.h"
#include "libmli/src/exec/small.h"
#include "libmli/src/exec/stage.h"
#include "libmli/src/exec/tuning.h"
#include "libmli/src/exec/walk.h"
#include "mli_helpers_api.h"

/* How exec_run() moves the box of a plan. */
struct choice {
    struct walk walk;
    bool stream;   /* true: stream, if the kernel can */
    uint32_t done; /* slabs that are written with the box, as bits */
};

/* Calls the leaf kernel of the walk for every iteration of the outer loops. */
static void run_walk(const struct leaf_table *leaf, const struct walk *walk, bool stream)
{
    const struct leaf_loop *a = &walk->around[MLI_MAX_RANK - 3], *b = a + 1, *c = b + 1;

    for (size_t i = 0; i < a->count; i++) {
        for (size_t j = 0; j < b->count; j++) {
            uint8_t *dst = walk->nest.dst + i * a->dst_step + j * b->dst_step;
            const uint8_t *src = walk->nest.src + i * a->src_step + j * b->src_step;

            for (size_t k = 0; k < c->count; k++, dst += c->dst_step, src += c->src_step) {
                if (LEVEL_STREAMS && stream)
                    stage_move(leaf, walk, dst, src);
                else
                    walk_move(leaf, walk, dst, src);
            }
        }
    }
    if (LEVEL_STREAMS && stream)
        leaf->fence();
}

/* Fills a slab: loops around rows of the innermost loop. */
static void fill(const struct leaf_table *leaf, const struct mli_fill_slab *slab)
{
    const struct mli_fill_loop once = {1, 0};
    struct mli_fill_loop loop[MLI_MAX_RANK];
    size_t at = MLI_MAX_RANK;

    if (slab->loops <= 1) {
        leaf->fill(slab->dst, slab->loops ? slab->loop[0].step : 0, slab->run,
                   slab->loops ? slab->loop[0].count : 1);
        return;
    }
    for (size_t i = slab->loops; i > 0; i--)
        loop[--at] = slab->loop[i - 1];
    while (at > 0)
        loop[--at] = once;
    for (size_t i = 0; i < loop[0].count; i++)
        for (size_t j = 0; j < loop[1].count; j++)
            for (size_t k = 0; k < loop[2].count; k++)
                leaf->fill(slab->dst + i * loop[0].step + j * loop[1].step + k * loop[2].step,
                           loop[3].step, slab->run, loop[3].count);
}

/* Finds the zeros beside the rows. Returns the slabs that they come from, as bits. */
static uint32_t find_border(const struct mli_plan *plan, const struct border_rows *rows,
                            struct leaf_border *border)
{
    uint32_t found = 0;

    *border = (struct leaf_border){0, rows->run, 0};
    for (size_t i = 0; i < plan->slabs; i++) {
        const struct mli_fill_slab *slab = &plan->slab[i];

        if (border_is_before(slab, rows))
            border->before = slab->run;
        else if (border_is_after(slab, rows))
            border->after = slab->run;
        else
            continue;
        found |= 1u << i;
    }
    return found;
}

/* Adds slabs above and below the rows of the walk's inner loop to the walk. Returns these slabs, as
   bits. */
static uint32_t take_around(const struct mli_plan *plan, struct walk *walk, bool stream)
{
    const struct mli_copy_box *box = &plan->box;
    const struct border_rows inner = {walk->nest.dst, walk->nest.inner.count * walk_row(walk),
                                      box->loops - (box->loops > 0), box->loop};
    struct leaf_border border;
    const uint32_t around = find_border(plan, &inner, &border);

    if (!around || !(LEVEL_STREAMS && stream ? stage_take_zeros
                                             : walk_take_zeros)(walk, border.before, border.after))
        return 0;
    return around;
}

/* Returns whether a plan is one short row, for which there is nothing to choose. */
static bool is_small_row(const struct mli_plan *plan, size_t whole)
{
    return plan->box.loops == 0 && plan->slabs == 0 && whole <= TUNE_SMALL_ROW;
}

/* Inlined: for a small move, a call takes one percent of the time. */
static inline __attribute__((always_inline)) void choose(const struct leaf_table *leaf,
                                                         const struct mli_plan *plan, size_t whole,
                                                         struct choice *choice)
{
    const struct border_rows rows = border_long_rows(&plan->box);
    struct leaf_border border = {0, 0, 0};

    choice->done = 0;
    if (plan->slabs > 0)
        choice->done = find_border(plan, &rows, &border);
    if (!walk_init(&choice->walk, &plan->box, &border))
        choice->done = 0;
    choice->stream = LEVEL_STREAMS && leaf->stream && stage_pays(&choice->walk, whole);
    if (plan->slabs > 0 && choice->walk.kind == WALK_ROWS)
        choice->done |= take_around(plan, &choice->walk, choice->stream);
}

/* Not inlined: small moves would otherwise reserve stack for its variables. */
static __attribute__((noinline)) void run_plan(const struct leaf_table *leaf,
                                               const struct mli_plan *plan, size_t whole)
{
    struct choice choice;
    uint32_t done = 0;

    if (plan->box.run > 0) {
        choose(leaf, plan, whole, &choice);
        run_walk(leaf, &choice.walk, choice.stream);
        done = choice.done;
    }
    for (size_t i = 0; i < plan->slabs; i++) {
        if (!(done & 1u << i))
            fill(leaf, &plan->slab[i]);
    }
}

static void level_run(const struct mli_plan *plan, size_t whole)
{
    const struct mli_copy_box *box = &plan->box;
    const struct leaf_table *leaf = level_leaf();

    if (is_small_row(plan, whole)) {
        const struct leaf_nest row = {box->dst, box->src, {1, 0, 0}, {1, 0, 0}, 0};

        leaf->rows(&row, box->run);
        return;
    }
    run_plan(leaf, plan, whole);
}

void exec_run(const struct mli_plan *plan, size_t whole)
{
    if (BUILD_SMALL_KERNELS)
        small_run(plan);
    else
        level_run(plan, whole);
}

static void level_box(const struct mli_copy_box *box, size_t whole)
{
    const struct leaf_table *leaf = level_leaf();
    const struct leaf_border none = {0, 0, 0};
    struct mli_fill_slab slab;
    struct walk walk;

    if (box->src) {
        walk_init(&walk, box, &none);
        run_walk(leaf, &walk, LEVEL_STREAMS && leaf->stream && stage_pays(&walk, whole));
        return;
    }
    slab.dst = box->dst;
    slab.run = box->run;
    slab.loops = box->loops;
    for (size_t i = 0; i < box->loops; i++)
        slab.loop[i] = (struct mli_fill_loop){box->loop[i].count, box->loop[i].dst_step};
    fill(leaf, &slab);
}

void exec_box(const struct mli_copy_box *box, size_t whole)
{
    if (BUILD_SMALL_KERNELS)
        small_box(box);
    else
        level_box(box, whole);
}

/* Describes what run_walk() does with a choice. */
static void describe_walk(const struct leaf_table *leaf, const struct choice *choice,
                          struct exec_way *way)
{
    static const enum exec_kernel kernels[] = {[WALK_ROWS] = EXEC_ROWS,
                                               [WALK_GATHER] = EXEC_GATHER,
                                               [WALK_TRANSPOSE] = EXEC_TRANSPOSE,
                                               [WALK_TRANSPOSE_AT] = EXEC_TRANSPOSE};
    const struct walk *walk = &choice->walk;

    way->kernel = kernels[walk->kind];
    way->in_panels = walk->kind == WALK_TRANSPOSE_AT;
    way->bordered = choice->done != 0;
    way->streamed = LEVEL_STREAMS && choice->stream &&
                    stage_streams(leaf, walk, walk->nest.dst, walk->nest.src);
}

bool exec_way(const struct mli_plan *plan, size_t whole, uint32_t descriptor, struct exec_way *way)
{
    struct choice choice;

    choice.done = 0;
    *way = (struct exec_way){EXEC_ROWS, plan->box.run, mli_cpu_level(), false, false, false, false};
    if (!BUILD_SMALL_KERNELS && plan->box.run > 0 && !is_small_row(plan, whole)) {
        choose(level_leaf(), plan, whole, &choice);
        if (descriptor == 0)
            describe_walk(level_leaf(), &choice, way);
    }
    if (descriptor == 0)
        return plan->box.run > 0;
    way->kernel = EXEC_ZEROS;
    way->bytes = plan->slab[descriptor - 1].run;
    way->with_copy = choice.done >> (descriptor - 1) & 1;
    return true;
}
