/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/spy.h"

#include <stdatomic.h>
#include <string.h>

static struct {
    struct mli_plan plan;
    struct mli_work *_Atomic held;
    _Atomic uint32_t submits, cancels;
} channels[MLI_MOV_MAX_CHANNELS];

static _Atomic uint32_t holding;

/* Converts a fill to a box whose steps in the source are 0. */
static struct mli_copy_box box_of(const struct mli_plan *plan, uint32_t descriptor)
{
    const struct mli_fill_slab *slab;
    struct mli_copy_box box = {0};

    if (descriptor == 0)
        return plan->box;
    slab = &plan->slab[descriptor - 1];
    box.dst = slab->dst;
    box.run = slab->run;
    box.loops = slab->loops;
    for (size_t i = 0; i < slab->loops; i++) {
        box.loop[i].count = slab->loop[i].count;
        box.loop[i].dst_step = slab->loop[i].step;
    }
    return box;
}

uint64_t spy_rows(const struct mli_plan *plan, uint32_t descriptor)
{
    const struct mli_copy_box box = box_of(plan, descriptor);
    uint64_t rows = box.run > 0;

    for (size_t i = 0; i < box.loops; i++)
        rows *= box.loop[i].count;
    return rows;
}

static void move_row(const struct mli_copy_box *box, uint64_t row)
{
    size_t from = 0, to = 0;

    for (size_t i = box->loops; i-- > 0; row /= box->loop[i].count) {
        from += (size_t)(row % box->loop[i].count) * box->loop[i].src_step;
        to += (size_t)(row % box->loop[i].count) * box->loop[i].dst_step;
    }
    for (size_t i = 0; i < box->run; i++)
        box->dst[to + i] = box->src ? box->src[from + i] : 0;
}

uint64_t spy_move(const struct mli_plan *plan, uint32_t descriptor, uint64_t row)
{
    uint64_t bytes = 0;

    for (uint32_t d = 0; d <= plan->slabs && d <= descriptor; d++) {
        const struct mli_copy_box box = box_of(plan, d);
        const uint64_t rows = d < descriptor ? spy_rows(plan, d) : row;

        for (uint64_t r = 0; r < rows; r++)
            move_row(&box, r);
        bytes += rows * box.run;
    }
    return bytes;
}

static void move_and_end(struct mli_work *work, struct mli_work_end end)
{
    if (end.status == MLI_STATUS_OK)
        end.bytes = spy_move(work->plan, (uint32_t)work->plan->slabs + 1, 0);
    else
        end.bytes = spy_move(work->plan, end.descriptor, end.row);
    work->done(work, &end);
}

void spy_end(uint32_t channel, mli_status status, uint32_t descriptor, uint64_t row)
{
    struct mli_work *work = atomic_exchange(&channels[channel].held, NULL);

    if (work)
        move_and_end(work, (struct mli_work_end){status, descriptor, row, 0, 0});
}

static uint32_t probe(void)
{
    return MLI_MOV_MAX_CHANNELS;
}

static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->loops = MLI_MAX_RANK;
}

static void submit(uint32_t channel, struct mli_work *work)
{
    memcpy(&channels[channel].plan, work->plan, sizeof(*work->plan));
    atomic_fetch_add(&channels[channel].submits, 1);
    if (atomic_load(&holding) >> channel & 1)
        atomic_store(&channels[channel].held, work);
    else
        move_and_end(work, (struct mli_work_end){.status = MLI_STATUS_OK});
}

static void cancel(uint32_t channel)
{
    atomic_fetch_add(&channels[channel].cancels, 1);
}

void spy_init(void)
{
    static const struct mli_engine engine = {
        .size = sizeof(engine),
        .name = "spy",
        .probe = probe,
        .caps = caps,
        .submit = submit,
        .cancel = cancel,
    };

    (void)mli_mov_add_engine(&engine); /* refused if an earlier call has added the engine */
    spy_hold(0);
    for (int i = 0; i < MLI_MOV_MAX_CHANNELS; i++) {
        atomic_store(&channels[i].submits, 0);
        atomic_store(&channels[i].cancels, 0);
    }
}

void spy_hold(uint32_t mask)
{
    atomic_store(&holding, mask);
}

const struct mli_plan *spy_plan(uint32_t channel)
{
    return &channels[channel].plan;
}

uint32_t spy_submits(uint32_t channel)
{
    return atomic_load(&channels[channel].submits);
}

uint32_t spy_cancels(uint32_t channel)
{
    return atomic_load(&channels[channel].cancels);
}

bool spy_holds(uint32_t channel)
{
    return atomic_load(&channels[channel].held) != NULL;
}

bool spy_is_cancelled(uint32_t channel)
{
    const struct mli_work *work = atomic_load(&channels[channel].held);

    return work && mli_work_cancelled(work);
}
