/* SPDX-License-Identifier: BSD-3-Clause */
/* What engines call: the state of a work item, caches, addresses for devices (mli_engine.h). */
#include "libmli/src/dma/dma.h"

#include "libmli/src/builtins.h"
#include "libmli/src/exec/exec.h"
#include "libmli/src/plan.h"

enum { LINE = 64 }; /* bytes */

/* All members are zero: a coherent platform with the processor's addresses. */
static struct mli_platform platform;

/* A function of the platform for a range of addresses. */
typedef void cache_function(const void *address, size_t bytes);

void platform_set(const struct mli_platform *given)
{
    zero_bytes(&platform, sizeof(platform));
    if (given)
        copy_bytes(&platform, given,
                   given->size < sizeof(platform) ? given->size : sizeof(platform));
    if (platform.line == 0)
        platform.line = LINE;
}

bool mli_mov_is_coherent(void)
{
    return !platform.clean && !platform.clean_invalidate && !platform.invalidate;
}

uint64_t mli_bus_address(const void *address)
{
    return platform.bus_address ? platform.bus_address(address) : (uintptr_t)address;
}

bool platform_pend(uint32_t channel)
{
    if (!platform.pend)
        return false;
    platform.pend(channel);
    return true;
}

void mli_cache_clean(const void *address, size_t bytes)
{
    if (platform.clean && bytes > 0)
        platform.clean(address, bytes);
}

void mli_cache_invalidate(const void *address, size_t bytes)
{
    if (platform.invalidate && bytes > 0)
        platform.invalidate(address, bytes);
}

/* The rows of one side of a box: a nest of loops, from the largest step to the smallest. */
struct side {
    const uint8_t *at;
    size_t run, loops;
    struct mli_fill_loop loop[MLI_MAX_RANK];
};

/* Adds a loop in the order of steps. A loop with a step of 0 visits the same bytes again. */
static void add_loop(struct side *side, size_t count, size_t step)
{
    size_t i = side->loops;

    if (step == 0)
        return;
    for (; i > 0 && side->loop[i - 1].step < step; i--)
        side->loop[i] = side->loop[i - 1];
    side->loop[i] = (struct mli_fill_loop){count, step};
    side->loops++;
}

static struct side side_of(const struct mli_copy_box *box, bool src)
{
    struct side side = {.at = src ? box->src : box->dst, .run = box->run};

    for (size_t i = 0; i < box->loops; i++)
        add_loop(&side, box->loop[i].count, src ? box->loop[i].src_step : box->loop[i].dst_step);
    return side;
}

/* Merges rows into one range if no whole cache line is between them. */
static void merge_rows(struct side *side)
{
    while (side->loops > 0) {
        const struct mli_fill_loop *loop = &side->loop[side->loops - 1];

        if (loop->step > side->run && loop->step - side->run >= platform.line)
            return;
        side->run += (loop->count - 1) * loop->step;
        side->loops--;
    }
}

/* Calls the function for the rows of a side of a box. */
static void maintain(const struct mli_copy_box *box, bool src, cache_function *function)
{
    struct side side = side_of(box, src);
    size_t at[MLI_MAX_RANK] = {0}, i;

    merge_rows(&side);
    do {
        const uint8_t *row = side.at;

        for (i = 0; i < side.loops; i++)
            row += at[i] * side.loop[i].step;
        function(row, side.run);
        for (i = side.loops; i > 0 && ++at[i - 1] == side.loop[i - 1].count; i--)
            at[i - 1] = 0;
    } while (i > 0);
}

static void maintain_destination(const struct mli_plan *plan, cache_function *function)
{
    for (uint32_t i = plan->box.run == 0; function && i <= plan->slabs; i++) {
        const struct mli_copy_box box = plan_box(plan, i);

        maintain(&box, false, function);
    }
}

void mli_work_clean(const struct mli_work *work)
{
    const struct mli_plan *plan = work->plan;

    if (platform.clean && plan->box.run > 0)
        maintain(&plan->box, true, platform.clean);
    maintain_destination(plan, platform.clean_invalidate);
}

void mli_work_invalidate(const struct mli_work *work)
{
    maintain_destination(work->plan, platform.invalidate);
}

static bool starts_lines(const struct mli_copy_box *box)
{
    size_t bits = (uintptr_t)box->dst;

    for (size_t i = 0; i < box->loops; i++)
        bits |= box->loop[i].dst_step;
    return (bits & (platform.line - 1)) == 0;
}

bool platform_can_split(const struct mli_plan *plan)
{
    if (mli_mov_is_coherent())
        return true;
    if (platform.line > LINE)
        return false; /* split_plan() cuts long rows at lines of 64 bytes */
    for (uint32_t i = plan->box.run == 0; i <= plan->slabs; i++) {
        const struct mli_copy_box box = plan_box(plan, i);

        if (!starts_lines(&box))
            return false;
    }
    return true;
}

void mli_piece_move(struct mli_work *work, const struct mli_descriptor *piece)
{
    exec_box(&piece->box, piece->bytes);
    if (platform.clean_invalidate)
        maintain(&piece->box, false, platform.clean_invalidate);
    work->cpu_pieces++;
    work->cpu_bytes += piece->bytes;
}

bool mli_work_cancelled(const struct mli_work *work)
{
    const uint32_t cancelled = __atomic_load_n(&work->cancelled, __ATOMIC_SEQ_CST);

    return cancelled != 0 && cancelled == work_number(work);
}

void mli_work_progress(struct mli_work *work, size_t bytes)
{
    __atomic_store_n(&work->written, bytes, __ATOMIC_RELAXED);
}
