/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver of the mock device. submit cuts the plan of a work item into descriptors and fills the
 * ring; each poll collects completed descriptors and refills the ring; the poll that finds all of
 * them completed calls done.
 *
 * No locks are needed: submit, poll and done of a channel follow one another, so a lane belongs to
 * the function that runs. Other threads read `work` and `high_water` only.
 */
#include "libmli/port/mock/mock_engine.h"

#include <stdatomic.h>

#include "libmli/port/mock/mock_device.h"

enum { RING_DEFAULT = 4, SLOTS_MAX = MOCK_RING_MAX + 1 };

/* The place in the plan of a descriptor in the ring. */
struct note {
    uint32_t index;
    uint64_t row;
    size_t bytes, run;
};

static struct lane {
    struct mock_descriptor ring[SLOTS_MAX];
    struct note notes[SLOTS_MAX];
    uint32_t slots;      /* the ring has one slot more than the driver fills */
    uint32_t head, tail; /* slots [head, tail) are with the device; they wrap around */
    struct mli_legaliser rest;
    size_t written;
    bool aborting;
    _Atomic(struct mli_work *) work; /* null: poll must not touch the lane */
    _Atomic uint32_t high_water;
} lanes[MOCK_DEVICE_CHANNELS];

/* Atomic, because mli_mov_is_polled() may call the caps operation at any time. */
static _Atomic uint32_t ring_option = RING_DEFAULT, loops_option = MOCK_LOOPS;

/* A driver of a real device looks for the device here. */
static uint32_t probe(void)
{
    return MOCK_DEVICE_CHANNELS;
}

/* `tiny` stays 0: the device moves every byte. For a board, measure the size. */
static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->flags = MLI_CHANNEL_POLLED;
    caps->loops = atomic_load_explicit(&loops_option, memory_order_relaxed);
    caps->count_max = MOCK_COUNT_MAX;
    caps->run_max = MOCK_RUN_MAX;
    caps->step_max = MOCK_STEP_MAX;
}

static bool open_channel(uint32_t channel)
{
    struct lane *lane = &lanes[channel];

    lane->slots = atomic_load_explicit(&ring_option, memory_order_relaxed) + 1;
    lane->head = 0;
    lane->tail = 0;
    atomic_store_explicit(&lane->high_water, 0, memory_order_relaxed);
    mock_device_write(channel, MOCK_RING_BASE, (uintptr_t)lane->ring);
    mock_device_write(channel, MOCK_RING_SIZE, lane->slots);
    mock_device_write(channel, MOCK_CONTROL, MOCK_ENABLE | MOCK_RESET);
    return true;
}

/* The pool has called synchronise(), so the device is not BUSY. */
static void close_channel(uint32_t channel)
{
    mock_device_write(channel, MOCK_CONTROL, MOCK_RESET);
}

static struct mock_descriptor encode(const struct mli_copy_box *box)
{
    struct mock_descriptor d = {
        .src = (uintptr_t)box->src,
        .dst = (uintptr_t)box->dst,
        .run = (uint32_t)box->run,
        .flags = box->src ? 0 : MOCK_FILL,
    };

    for (size_t i = 0; i < MOCK_LOOPS; i++) {
        d.loop[i].count = 1;
        if (i >= box->loops)
            continue;
        d.loop[i].count = (uint32_t)box->loop[i].count;
        d.loop[i].src_step = (uint32_t)box->loop[i].src_step;
        d.loop[i].dst_step = (uint32_t)box->loop[i].dst_step;
    }
    return d;
}

static uint32_t in_flight(const struct lane *lane)
{
    return (lane->tail + lane->slots - lane->head) % lane->slots;
}

/* Fills the free slots of the ring from the plan, then writes TAIL once. */
static void feed(uint32_t channel)
{
    struct lane *lane = &lanes[channel];
    const uint32_t before = lane->tail;
    struct mli_descriptor piece;

    while (in_flight(lane) < lane->slots - 1 && mli_legalise_next(&lane->rest, &piece)) {
        lane->ring[lane->tail] = encode(&piece.box);
        lane->notes[lane->tail] = (struct note){piece.index, piece.row, piece.bytes, piece.box.run};
        lane->tail = (lane->tail + 1) % lane->slots;
    }
    if (lane->tail == before)
        return;
    if (in_flight(lane) > atomic_load_explicit(&lane->high_water, memory_order_relaxed))
        atomic_store_explicit(&lane->high_water, in_flight(lane), memory_order_relaxed);
    /* For memory that the device does not snoop: clean the descriptors from the cache, then a
       barrier, so that they are in memory before the device reads TAIL. */
    mock_device_write(channel, MOCK_TAIL, lane->tail);
}

static void submit(uint32_t channel, struct mli_work *work)
{
    struct lane *lane = &lanes[channel];
    struct mli_channel_caps limits = {0};

    caps(channel, &limits);
    mli_legalise_init(&lane->rest, work->plan, &limits);
    lane->written = 0;
    lane->aborting = false;
    /* For memory that the device does not snoop: clean the source, and clean and invalidate the
       destination, before the first descriptor can run. */
    feed(channel);
    atomic_store_explicit(&lane->work, work, memory_order_release);
}

/* Collects descriptors that the device has completed, up to its head. */
static uint32_t reap(struct lane *lane, uint32_t device_head, uint32_t budget)
{
    uint32_t reaped = 0;

    for (; lane->head != device_head && reaped < budget; reaped++) {
        lane->written += lane->notes[lane->head].bytes;
        lane->head = (lane->head + 1) % lane->slots;
    }
    return reaped;
}

/* Returns the end of a work item that stopped in a descriptor, after `rows` of its rows. */
static struct mli_work_end end_at(const struct note *note, mli_status status, uint64_t rows)
{
    return (struct mli_work_end){
        .status = status,
        .descriptor = note->index,
        .row = note->row + rows,
        .bytes = rows * note->run,
    };
}

/*
 * Finds the first piece that was not done when the device stopped. Returns false if the work was
 * complete.
 */
static bool find_undone(struct lane *lane, struct note *note)
{
    struct mli_descriptor piece;

    if (in_flight(lane) > 0) {
        *note = lane->notes[lane->head];
        return true;
    }
    if (!mli_legalise_next(&lane->rest, &piece))
        return false;
    *note = (struct note){piece.index, piece.row, piece.bytes, piece.box.run};
    return true;
}

/* Returns whether the work has ended, and sets *end. All completed descriptors are collected. */
static bool has_ended(uint32_t channel, uint32_t status, struct mli_work_end *end)
{
    struct lane *lane = &lanes[channel];
    struct note undone;

    if (status & MOCK_ERROR)
        *end = end_at(&lane->notes[lane->head], MLI_STATUS_DMA_ERROR,
                      mock_device_read(channel, MOCK_ROWS));
    else if (lane->aborting ? status & MOCK_BUSY : in_flight(lane) > 0)
        return false; /* the device writes, or may write */
    else if (lane->aborting && find_undone(lane, &undone))
        *end = end_at(&undone, MLI_STATUS_CANCELLED, 0);
    else
        *end = (struct mli_work_end){.status = MLI_STATUS_OK};
    end->bytes += lane->written;
    return true;
}

/* Resets the device after an error or an abort: the ring is empty and begins at slot 0. */
static void recover(uint32_t channel)
{
    mock_device_write(channel, MOCK_CONTROL, MOCK_ENABLE | MOCK_RESET);
    lanes[channel].head = 0;
    lanes[channel].tail = 0;
}

/*
 * There is no cancel function: poll checks often enough. Another thread that wrote ABORT could
 * abort the next work item in the ring.
 */
static uint32_t poll(uint32_t channel, uint32_t budget)
{
    struct lane *lane = &lanes[channel];
    struct mli_work *work = atomic_load_explicit(&lane->work, memory_order_acquire);
    struct mli_work_end end;
    uint32_t status, head, reaped;

    if (!work)
        return 0;
    if (!lane->aborting && mli_work_cancelled(work)) {
        lane->aborting = true;
        mock_device_write(channel, MOCK_CONTROL, MOCK_ENABLE | MOCK_ABORT);
    }
    status = (uint32_t)mock_device_read(channel, MOCK_STATUS);
    head = (uint32_t)mock_device_read(channel, MOCK_HEAD);
    reaped = reap(lane, head, budget);
    mli_work_progress(work, lane->written);
    if (lane->head != head)
        return reaped; /* the budget of the poll is used up */
    if (!(status & MOCK_ERROR) && !lane->aborting)
        feed(channel);
    if (!has_ended(channel, status, &end))
        return reaped;
    if (end.status != MLI_STATUS_OK || lane->aborting)
        recover(channel);
    /* For memory that the device does not snoop: invalidate the destination here. */
    atomic_store_explicit(&lane->work, NULL, memory_order_relaxed);
    /* Call done() last: when it returns, the lane may have its next work item. */
    work->done(work, &end);
    return reaped;
}

/* The device is BUSY for a moment after the last descriptor. */
static void synchronise(uint32_t channel)
{
    while (mock_device_read(channel, MOCK_STATUS) & MOCK_BUSY)
        ;
}

/* Fills the capabilities, which are the same for every channel. */
static void stats(uint32_t channel, mli_mov_channel_stats *stats)
{
    if (channel < MOCK_DEVICE_CHANNELS)
        stats->queue_high_water =
            atomic_load_explicit(&lanes[channel].high_water, memory_order_relaxed);
}

static bool is(const char *key, size_t length, const char *name)
{
    size_t i = 0;

    while (i < length && name[i] == key[i])
        i++;
    return i == length && name[i] == '\0';
}

/* A key of length 0 resets all options to their defaults. */
static bool option(const char *key, size_t length, uint64_t value)
{
    if (length == 0) {
        ring_option = RING_DEFAULT;
        loops_option = MOCK_LOOPS;
    } else if (is(key, length, "ring") && value >= 1 && value <= MOCK_RING_MAX) {
        ring_option = (uint32_t)value;
    } else if (is(key, length, "loops") && value <= MOCK_LOOPS) {
        loops_option = (uint32_t)value;
    } else {
        return false;
    }
    return true;
}

const struct mli_engine mock_engine = {
    .size = sizeof(struct mli_engine),
    .name = "mock",
    .probe = probe,
    .caps = caps,
    .submit = submit,
    .open = open_channel,
    .close = close_channel,
    .poll = poll,
    .synchronise = synchronise,
    .stats = stats,
    .option = option,
};
