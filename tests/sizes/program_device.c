/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program for a DMA controller: it starts transfers on one channel, whose completion is an
 * interrupt. The controller copies rectangles; its registers are fictional.
 */
#include "mli_engine.h"
#include "mli_mov_api.h"

static int8_t from[4][6], to[6][4];
static mli_mov_cfg_t cfg = {.sub_sample_step = {1, 1}, .perm_dim = {1, 0}};
static mli_tensor src = {.data = {.capacity = sizeof(from), .mem = {.pi8 = from[0]}},
                         .shape = {4, 6},
                         .rank = 2,
                         .el_type = MLI_EL_FX_8};
static mli_tensor dst = {.data = {.capacity = sizeof(to), .mem = {.pi8 = to[0]}}};

static struct {
    volatile uintptr_t src, dst;
    volatile uint32_t run, count, src_step, dst_step, start, busy;
} registers;

static struct {
    struct mli_work *work;
    struct mli_legaliser rest;
} lane;

static uint32_t device_probe(void)
{
    return 1;
}

static void device_caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->flags = MLI_CHANNEL_INTERRUPT;
    caps->loops = 1;
    caps->piece_min = 16;
    caps->count_max = 65536;
    caps->run_max = 65536;
}

/* Gives the next piece to the device, or to the processor. Returns false after the last piece. */
static bool next(void)
{
    struct mli_descriptor piece;

    if (!mli_legalise_next(&lane.rest, &piece))
        return false;
    if (piece.flags & MLI_PIECE_CPU) {
        mli_piece_move(lane.work, &piece);
        mli_channel_again(0);
        return true;
    }
    registers.src = (uintptr_t)piece.box.src;
    registers.dst = (uintptr_t)piece.box.dst;
    registers.run = piece.box.run;
    registers.count = piece.box.loops > 0 ? piece.box.loop[0].count : 1;
    registers.src_step = piece.box.loop[0].src_step;
    registers.dst_step = piece.box.loop[0].dst_step;
    registers.start = 1;
    return true;
}

static void device_submit(uint32_t channel, struct mli_work *work)
{
    struct mli_channel_caps caps = {0};

    device_caps(channel, &caps);
    mli_legalise_init(&lane.rest, work->plan, &caps);
    lane.work = work;
    (void)next();
}

static uint32_t device_poll(uint32_t channel, uint32_t budget)
{
    struct mli_work_end end = {.status = MLI_STATUS_OK};
    struct mli_work *work = lane.work;

    (void)channel;
    (void)budget;
    if (registers.busy)
        return 0;
    if (next())
        return 1;
    lane.work = 0;
    end.bytes = work->plan->bytes;
    work->done(work, &end);
    return 1;
}

static const struct mli_engine device = {
    .size = sizeof(device),
    .name = "device",
    .probe = device_probe,
    .caps = device_caps,
    .submit = device_submit,
    .poll = device_poll,
};

static volatile int32_t done;

static void on_done(int32_t cookie)
{
    done = cookie;
}

/* The handler of the controller's interrupt. */
__attribute__((used)) void device_interrupt(void)
{
    registers.busy = 0; /* ends the device's interrupt request */
    mli_mov_interrupt(0);
}

int main(void)
{
    mli_mov_handle_t h;

    if (mli_mov_add_engine(&device) != MLI_STATUS_OK ||
        mli_mov_set_engine("device") != MLI_STATUS_OK ||
        mli_mov_set_num_dma_ch(0, 1) != MLI_STATUS_OK ||
        mli_mov_acquire_handle(1, &h) != MLI_STATUS_OK ||
        mli_mov_prepare(&h, &src, &cfg, &dst) != MLI_STATUS_OK ||
        mli_mov_registercallback(&h, on_done, 1) != MLI_STATUS_OK)
        return 1;
    (void)mli_mov_start(&h, &src, &cfg, &dst);
    return (int)mli_mov_wait(&h);
}
