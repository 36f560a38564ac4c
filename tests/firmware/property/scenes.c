/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "mli_api.h"
#include "tests/firmware/property/inject.h"
#include "tests/firmware/property/scenes.h"

enum { BYTES = 4096, PATIENCE_NS = 1000000000 };

static _Alignas(64) uint8_t in[BYTES], out[BYTES];

static mli_tensor tensor_of(uint8_t *bytes)
{
    mli_tensor tensor = {.el_type = MLI_EL_FX_8, .rank = 1, .shape = {BYTES}, .mem_stride = {1}};

    tensor.data.mem.pi8 = (int8_t *)bytes;
    tensor.data.capacity = BYTES;
    return tensor;
}

/* Starts the transfer. Returns whether it ends in time. */
static bool runs_to_its_end(mli_mov_handle_t *handle)
{
    mli_tensor src = tensor_of(in), dst = tensor_of(out);
    const uint64_t began = board_time_ns();
    mli_mov_cfg_t cfg;
    bool done = false;

    (void)mli_mov_cfg_for_copy(&cfg);
    if (mli_mov_prepare(handle, &src, &cfg, &dst) != MLI_STATUS_OK ||
        mli_mov_start(handle, &src, &cfg, &dst) != MLI_STATUS_OK)
        return false;
    while (!done && board_time_ns() - began < PATIENCE_NS)
        done = mli_mov_isdone(handle);
    return done;
}

bool first_transfer(uint32_t channel)
{
    const uint32_t before = board_dma_interrupts;
    mli_mov_handle_t handle;

    for (size_t i = 0; i < BYTES; i++)
        in[i] = (uint8_t)(i * 7 + (i >> 8) + 1);
    if (mli_mov_acquire_handle_at((int)channel, 1, &handle) != MLI_STATUS_OK) {
        printf("  FAILED: channel %u: %s\n", (unsigned)channel, mli_last_error());
        return false;
    }
    if (!runs_to_its_end(&handle)) {
        printf(
            "  FAILED: the first transfer, %d bytes on channel %u, does not end; %u interrupts of "
            "the controller were handled, %s are moved\n",
            (int)BYTES, (unsigned)channel, (unsigned)(board_dma_interrupts - before),
            memcmp(in, out, BYTES) == 0 ? "all bytes" : "not all bytes");
        return false; /* the handle stays: the controller may still access the memory */
    }
    return mli_mov_release_handle(&handle) == MLI_STATUS_OK;
}

enum { ROWS = 16, WIDTH = 576, PITCH = 640, CHANNELS_MAX = 8, PAINT = 0xA5 };

/* A move of rows that do not merge: on a linear controller each row is a descriptor. They are long
   enough for the controller: no engine leaves them to the processor. */
struct rows {
    mli_tensor src, dst;
    mli_mov_cfg_t cfg;
    mli_mov_handle_t handle;
    _Alignas(64) uint8_t in[ROWS * PITCH];
    _Alignas(64) uint8_t out[ROWS * PITCH];
};

static struct rows moves[CHANNELS_MAX];
static uint32_t first_channel, channel_count; /* scenes number the channels from 0 */
static const char *failure;                   /* the first failure of the scene; null: none */

static void expect(bool true_value, const char *what)
{
    if (!true_value && !failure)
        failure = what;
}

static void rows_init(struct rows *m)
{
    memset(m, 0, sizeof(*m));
    for (uint32_t i = 0; i < sizeof(m->in); i++)
        m->in[i] = (uint8_t)(i * 7 + (i >> 8) + 1);
    memset(m->out, PAINT, sizeof(m->out));
    m->src = (mli_tensor){.data = {.mem.pi8 = (int8_t *)m->in, .capacity = sizeof(m->in)},
                          .mem_stride = {PITCH, 1},
                          .shape = {ROWS, WIDTH},
                          .rank = 2,
                          .el_type = MLI_EL_FX_8};
    m->dst.data.mem.pi8 = (int8_t *)m->out;
    m->dst.data.capacity = sizeof(m->out);
    (void)mli_mov_cfg_for_copy(&m->cfg);
    m->cfg.dst_mem_stride[0] = PITCH;
    m->cfg.dst_mem_stride[1] = 1;
}

/* Makes a move and prepares it on one channel. */
static bool rows_prepare(struct rows *m, uint32_t channel)
{
    rows_init(m);
    if (mli_mov_acquire_handle_at((int)(first_channel + channel), 1, &m->handle) == MLI_STATUS_OK &&
        mli_mov_prepare(&m->handle, &m->src, &m->cfg, &m->dst) == MLI_STATUS_OK)
        return true;
    expect(false, mli_last_error());
    return false;
}

/* Returns the number of rows that are moved; rows after them may be moved in part. */
static uint32_t rows_moved(const struct rows *m)
{
    uint32_t rows = 0;

    while (rows < ROWS && memcmp(m->out + rows * PITCH, m->in + rows * PITCH, WIDTH) == 0)
        rows++;
    return rows;
}

/* Returns whether no byte between the rows has changed. */
static bool gaps_intact(const struct rows *m)
{
    for (uint32_t i = 0; i < sizeof(m->out); i++) {
        if (i % PITCH >= WIDTH && m->out[i] != PAINT)
            return false;
    }
    return true;
}

static mli_status start(struct rows *m)
{
    return mli_mov_start(&m->handle, &m->src, &m->cfg, &m->dst);
}

static mli_status start_and_wait(struct rows *m)
{
    const mli_status started = start(m);

    return started == MLI_STATUS_OK ? mli_mov_wait(&m->handle) : started;
}

static void release(struct rows *m)
{
    expect(mli_mov_release_handle(&m->handle) == MLI_STATUS_OK, "the handle is not released");
}

/* Checks that the channel works: after a fault, all rows of the next transfer are moved. */
static void expect_to_work(struct rows *m)
{
    memset(m->out, PAINT, sizeof(m->out));
    expect(start_and_wait(m) == MLI_STATUS_OK, "the next transfer on the channel fails");
    expect(rows_moved(m) == ROWS && gaps_intact(m), "the next transfer on the channel is wrong");
}

/* Checks that a transfer ended in a row, with all rows before it moved. */
static void expect_end(const struct rows *m, uint32_t channel, uint32_t row, mli_status code)
{
    mli_mov_status_t status;

    expect(mli_mov_get_status(&m->handle, &status) == MLI_STATUS_OK, "there is no status");
    expect(status.stage == MLI_MOV_DONE, "the transfer is not done");
    expect(status.code == code, "wrong status");
    expect(status.channel == first_channel + channel, "wrong channel");
    expect(status.descriptor == 0, "wrong descriptor");
    if (status.row != row)
        printf("  the transfer ended in row %u, expected in row %u\n", (unsigned)status.row,
               (unsigned)row);
    expect(status.row == row, "wrong row");
    expect(status.address == m->out + (size_t)row * PITCH, "wrong address");
    expect(rows_moved(m) >= row, "a row before the error is missing");
    expect(status.bytes <= (size_t)rows_moved(m) * WIDTH, "more bytes counted than moved");
    expect(gaps_intact(m), "bytes between the rows were written");
}

/* Returns false if the board cannot play the scene. */
typedef bool scene(void);

/* Every channel reports an error in every row once. */
static bool error_in_each_row(void)
{
    for (uint32_t channel = 0; channel < channel_count; channel++) {
        struct rows *m = &moves[channel];

        for (uint32_t row = 0; row < ROWS; row++) {
            if (!rows_prepare(m, channel))
                return true;
            if (!board_inject(BOARD_FAULT_ERROR, first_channel + channel, row)) {
                release(m);
                return false;
            }
            expect(start_and_wait(m) == MLI_STATUS_DMA_ERROR, "the error is not reported");
            (void)board_inject(BOARD_FAULT_NONE, 0, 0);
            expect_end(m, channel, row, MLI_STATUS_DMA_ERROR);
            expect_to_work(m);
            release(m);
        }
    }
    return true;
}

/* The source ends in the middle of the move: the rows after the end of the memory fail. */
static bool bus_error(void)
{
    const struct board_memory memory = board_memory();
    uint8_t *end = memory.base + memory.bytes;
    struct rows *m = &moves[0];
    const uint32_t row = 5;

    if (!board_reports_bus_errors)
        return false;
    if (!rows_prepare(m, 0))
        return true;
    m->src.data.mem.pi8 = (int8_t *)end - row * PITCH;
    memcpy(m->src.data.mem.pi8, m->in, row * PITCH);
    expect(mli_mov_prepare(&m->handle, &m->src, &m->cfg, &m->dst) == MLI_STATUS_OK, "not prepared");
    expect(start_and_wait(m) == MLI_STATUS_DMA_ERROR, "the error is not reported");
    expect_end(m, 0, row, MLI_STATUS_DMA_ERROR);
    m->src.data.mem.pi8 = (int8_t *)m->in;
    expect(mli_mov_prepare(&m->handle, &m->src, &m->cfg, &m->dst) == MLI_STATUS_OK, "not prepared");
    expect_to_work(m);
    release(m);
    return true;
}

/* Only a cancel ends a stuck channel, which works afterwards. Other channels continue. */
static bool stuck_channel(void)
{
    const uint32_t channel = channel_count - 1, row = 3;
    struct rows *m = &moves[channel], *other = &moves[0];

    if (!rows_prepare(m, channel) || !rows_prepare(other, 0))
        return true;
    if (!board_inject(BOARD_FAULT_STUCK, first_channel + channel, row)) {
        release(m);
        release(other);
        return false;
    }
    expect(start(m) == MLI_STATUS_OK, "not started");
    for (int i = 0; i < 1000; i++)
        expect(!mli_mov_isdone(&m->handle), "the stuck transfer is done");
    expect(start_and_wait(other) == MLI_STATUS_OK && rows_moved(other) == ROWS,
           "another channel does not work");
    expect(mli_mov_cancel(&m->handle) == MLI_STATUS_OK, "not cancelled");
    expect(mli_mov_wait(&m->handle) == MLI_STATUS_CANCELLED, "the cancel is not reported");
    (void)board_inject(BOARD_FAULT_NONE, 0, 0);
    expect_end(m, channel, row, MLI_STATUS_CANCELLED);
    expect_to_work(m);
    release(m);
    release(other);
    return true;
}

/*
 * A cancel ends a transfer after some of its rows, and the channel works afterwards. A controller
 * that moves all rows in one list may be faster than the cancel.
 */
static bool cancelled_transfer(void)
{
    for (uint32_t channel = 0; channel < channel_count; channel++) {
        struct rows *m = &moves[channel];
        mli_mov_status_t status;
        mli_status code;
        bool before;

        if (!rows_prepare(m, channel))
            return true;
        before = board_interrupts(false); /* the transfer cannot be complete before the cancel */
        expect(start(m) == MLI_STATUS_OK, "not started");
        expect(mli_mov_cancel(&m->handle) == MLI_STATUS_OK, "not cancelled");
        (void)board_interrupts(before);
        code = mli_mov_wait(&m->handle);
        expect(mli_mov_get_status(&m->handle, &status) == MLI_STATUS_OK, "there is no status");
        if (code == MLI_STATUS_OK) {
            expect(rows_moved(m) == ROWS && gaps_intact(m), "the transfer is wrong");
        } else {
            expect(status.row < ROWS, "wrong row");
            expect_end(m, channel, (uint32_t)status.row, MLI_STATUS_CANCELLED);
        }
        expect_to_work(m);
        release(m);
    }
    return true;
}

/* After an error, channels that leave the pool and join it again work without errors. */
static bool pool_after_error(void)
{
    struct rows *m = &moves[0];

    if (!rows_prepare(m, 0))
        return true;
    if (!board_inject(BOARD_FAULT_ERROR, first_channel, 2)) {
        release(m);
        return false;
    }
    expect(start_and_wait(m) == MLI_STATUS_DMA_ERROR, "the error is not reported");
    release(m);
    (void)board_inject(BOARD_FAULT_NONE, 0, 0);
    expect(mli_mov_set_num_dma_ch(0, 0) == MLI_STATUS_OK, "channels do not leave the pool");
    expect(mli_mov_set_num_dma_ch((int)first_channel, (int)channel_count) == MLI_STATUS_OK,
           "channels do not join the pool");
    if (rows_prepare(m, 0)) {
        expect_to_work(m);
        release(m);
    }
    return true;
}

/* Transfers on all channels run concurrently. */
static bool all_channels(void)
{
    for (uint32_t i = 0; i < channel_count; i++) {
        if (!rows_prepare(&moves[i], i))
            return true;
    }
    for (uint32_t i = 0; i < channel_count; i++)
        expect(start(&moves[i]) == MLI_STATUS_OK, "not started");
    for (uint32_t i = channel_count; i-- > 0;) {
        expect(mli_mov_wait(&moves[i].handle) == MLI_STATUS_OK, "a transfer failed");
        expect(rows_moved(&moves[i]) == ROWS && gaps_intact(&moves[i]), "a transfer is wrong");
        release(&moves[i]);
    }
    return true;
}

enum { CHAIN = 500 };

static volatile uint32_t chained, small_done;

static void on_small(int32_t cookie)
{
    (void)cookie;
    small_done = small_done + 1;
}

/* Starts a transfer without channels, which the processor moves, and the next transfer of the
   chain. */
static void on_link(int32_t cookie)
{
    struct rows *m = &moves[cookie], *small = &moves[channel_count];

    if (chained == CHAIN)
        return;
    chained = chained + 1;
    expect(start(small) == MLI_STATUS_OK, "a callback cannot start a small transfer");
    expect(start(m) == MLI_STATUS_OK, "a callback cannot start a transfer");
}

/* Completions start transfers, as interrupt handlers of programs do; no transfer is lost. */
static bool chain_of_callbacks(void)
{
    struct rows *m = &moves[0], *small = &moves[channel_count];

    chained = small_done = 0;
    rows_init(small);
    expect(mli_mov_acquire_handle(0, &small->handle) == MLI_STATUS_OK &&
               mli_mov_prepare(&small->handle, &small->src, &small->cfg, &small->dst) ==
                   MLI_STATUS_OK &&
               mli_mov_registercallback(&small->handle, on_small, 0) == MLI_STATUS_OK,
           "the small transfer is not prepared");
    if (!rows_prepare(m, 0))
        return true;
    expect(mli_mov_registercallback(&m->handle, on_link, 0) == MLI_STATUS_OK, "no callback");
    expect(start(m) == MLI_STATUS_OK, "not started");
    expect(mli_mov_synchronise(&m->handle) == MLI_STATUS_OK, "not synchronised");
    expect(chained == CHAIN, "the chain has stopped");
    expect(small_done == CHAIN, "small transfers were lost");
    expect(rows_moved(m) == ROWS && rows_moved(small) == ROWS, "the transfers are wrong");
    release(m);
    release(small);
    return true;
}

void scenes_play(uint32_t first, uint32_t channels, struct scene_count *count)
{
    static const struct {
        const char *name;
        scene *play;
    } scenes[] = {
        {"an error in each row", error_in_each_row},  {"a bus error", bus_error},
        {"a stuck channel", stuck_channel},           {"a cancelled transfer", cancelled_transfer},
        {"a pool after an error", pool_after_error},  {"all channels", all_channels},
        {"a chain of callbacks", chain_of_callbacks},
    };

    first_channel = first;
    channel_count = channels < CHANNELS_MAX - 1 ? channels : CHANNELS_MAX - 1;
    for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
        failure = NULL;
        if (!scenes[i].play()) {
            printf("  scene \"%s\" skipped: the board cannot play it\n", scenes[i].name);
            count->skipped++;
        } else if (failure) {
            printf("  scene \"%s\" FAILED: %s\n", scenes[i].name, failure);
            count->failed++;
        } else {
            count->passed++;
        }
    }
}
