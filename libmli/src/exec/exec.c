/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/exec/exec.h"

#include <stdbool.h>

#include "libmli/src/build.h"
#include "libmli/src/builtins.h"
#include "libmli/src/exec/copy.h"
#include "libmli/src/exec/leaf.h"
#include "libmli/src/exec/tuning.h"
#include "libmli/src/exec/walk.h"
#include "mli_helpers_api.h"

/* The only kernel of a build with MLI_SMALL_KERNELS: loops in the order of the destination. */

static const struct mli_copy_loop one_row = {1, 0, 0};

#define COPY_ROWS(copy, bytes)                                                                     \
    for (; count > 0; count--, dst += loop->dst_step, src += loop->src_step)                       \
        copy(dst, src, bytes);

/* Copies the rows of the innermost loop. Each element size has its own code, without a call. */
static void copy_rows(uint8_t *dst, const uint8_t *src, const struct mli_copy_loop *loop,
                      size_t run)
{
    size_t count = loop->count;

    if (run == 1)
        COPY_ROWS(copy_bytes, 1)
    else if (run == 2)
        COPY_ROWS(copy_bytes, 2)
    else if (run == 4)
        COPY_ROWS(copy_bytes, 4)
    else
        COPY_ROWS(copy_run, run)
}

static void move_rows(const struct mli_copy_box *box, const struct mli_copy_loop *loop,
                      uint8_t *dst, const uint8_t *src)
{
    if (src) {
        copy_rows(dst, src, loop, box->run);
        return;
    }
    for (size_t i = 0; i < loop->count; i++)
        zero_bytes(dst + i * loop->dst_step, box->run);
}

/* A position in the loops around a kernel: the row that is moved next, and an index of each loop.
 */
struct place {
    uint8_t *dst;
    const uint8_t *src;
    size_t at[MLI_MAX_RANK];
};

/* Advances the indices of the first `outer` loops by one row. Returns false at the end. */
static bool advance(const struct mli_copy_box *box, size_t outer, struct place *place)
{
    for (size_t i = outer; i-- > 0;) {
        const struct mli_copy_loop *loop = &box->loop[i];
        const bool ends = ++place->at[i] == loop->count;
        const size_t back = ends ? loop->count : 0;

        place->dst += (1 - back) * loop->dst_step;
        if (place->src)
            place->src += (1 - back) * loop->src_step;
        if (!ends)
            return true;
        place->at[i] = 0;
    }
    return false;
}

static void small_box(const struct mli_copy_box *box)
{
    const size_t outer = box->loops > 0 ? box->loops - 1 : 0;
    const struct mli_copy_loop *inner = box->loops > 0 ? &box->loop[outer] : &one_row;
    struct place place = {box->dst, box->src, {0}};

    do
        move_rows(box, inner, place.dst, place.src);
    while (advance(box, outer, &place));
}

static void small_run(const struct mli_plan *plan)
{
    if (plan->box.run > 0)
        small_box(&plan->box);
    for (size_t i = 0; i < plan->slabs; i++) {
        const struct mli_copy_box box = slab_box(&plan->slab[i]);

        small_box(&box);
    }
}

/*
 * Merges contiguous loops of a box or slab. Loops of a slab are merged already; those of a box may
 * not be, because the source is not contiguous.
 */
static size_t merge(const struct border_rows *rows, struct mli_copy_loop *merged)
{
    size_t count = 0;

    for (size_t i = 0; i < rows->loops; i++) {
        const struct mli_copy_loop *loop = &rows->loop[i];
        struct mli_copy_loop *last = &merged[count - (count > 0)];

        if (count > 0 && last->dst_step == loop->count * loop->dst_step)
            *last = (struct mli_copy_loop){last->count * loop->count, 0, loop->dst_step};
        else
            merged[count++] = *loop;
    }
    return count;
}

static bool same_places(const struct mli_fill_slab *slab, const struct border_rows *rows)
{
    struct mli_copy_loop merged[MLI_MAX_RANK];
    const struct mli_copy_loop *loop = rows->loop;

    if (slab->loops != rows->loops) {
        if (merge(rows, merged) != slab->loops)
            return false;
        loop = merged;
    }
    for (size_t i = 0; i < slab->loops; i++) {
        if (loop[i].count != slab->loop[i].count || loop[i].dst_step != slab->loop[i].step)
            return false;
    }
    return true;
}

bool border_is_before(const struct mli_fill_slab *slab, const struct border_rows *rows)
{
    return slab->dst + slab->run == rows->dst && same_places(slab, rows);
}

bool border_is_after(const struct mli_fill_slab *slab, const struct border_rows *rows)
{
    return slab->dst == rows->dst + rows->run && same_places(slab, rows);
}

/* How exec_run() moves the box of a plan. */
struct choice {
    struct walk walk;
    bool stream;   /* true: stream, if the kernel can */
    uint32_t done; /* slabs that are written together with the box, as bits */
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

/* Fills a slab with zeros. One call of the kernel fills the rows of the innermost loop. */
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

/* Finds the zeros next to the rows. Returns the slabs that contain these zeros, as bits. */
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

/* Describes in *way how run_walk() moves the box of `choice`. */
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
