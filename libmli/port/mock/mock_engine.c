/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver of the mock device. submit cuts the plan of a work item into pieces and fills the ring
 * with descriptors; each poll collects completed descriptors and refills the ring, or moves one
 * piece of the processor; the poll that finds nothing left calls done. With interrupts, the handler
 * clears the interrupt and has the library call poll.
 *
 * A struct lane is the state of one channel. It needs no lock, because submit, poll and done of a
 * channel never run at the same time. Other threads read only its `work` and `high_water`.
 */
#include "libmli/port/mock/mock_engine.h"

#include <stdatomic.h>

#include "libmli/port/mock/mock_device.h"
#include "libmli/port/option.h"

enum {
    RING_DEFAULT = 4,
    SLOTS_MAX = MOCK_RING_MAX + 1,
    PAGE = 4096,
    NO_ENTRY = 28 /* ENOSPC */
};

static struct lane {
    struct mock_descriptor ring[SLOTS_MAX];
    struct mli_descriptor pieces[SLOTS_MAX]; /* pieces[i] is what ring[i] moves */
    uint32_t slots;                          /* the ring has one slot more than the driver fills */
    uint32_t head, tail; /* slots [head, tail) are with the device; they wrap around */
    struct mli_legaliser rest;
    struct mli_descriptor piece; /* the next piece that the processor moves, if there is one */
    size_t written;
    bool for_processor, aborting;
    bool visible;                    /* the processor's cache holds no bytes of the destination */
    _Atomic(struct mli_work *) work; /* null: poll must not touch the lane */
    _Atomic uint32_t high_water;
} lanes[MOCK_DEVICE_CHANNELS];

/* Atomic, because mli_mov_is_polled() may call the caps operation at any time. */
enum clock { POLLED, BY_THREAD, BY_PROGRAM };
static _Atomic uint32_t ring_option = RING_DEFAULT, loops_option = MOCK_LOOPS,
                        interrupt_option = POLLED, unit_option = 1, worth_option, iommu_option,
                        any_option;

/* A driver of a real device looks for the device here. */
static uint32_t probe(void)
{
    return MOCK_DEVICE_CHANNELS;
}

/* `tiny` stays 0: the device moves every byte. For a real device, measure the best value. */
static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->flags =
        port_option_get(&interrupt_option) == POLLED ? MLI_CHANNEL_POLLED : MLI_CHANNEL_INTERRUPT;
    if (port_option_get(&any_option))
        caps->flags |= MLI_CHANNEL_ANY_LOOPS;
    caps->loops = port_option_get(&loops_option);
    caps->count_max = MOCK_COUNT_MAX;
    caps->run_max = MOCK_RUN_MAX;
    caps->step_max = MOCK_STEP_MAX;
    caps->granularity = port_option_get(&unit_option);
    caps->piece_min = port_option_get(&worth_option);
}

/* Clears the interrupt before poll collects its causes: later causes raise it again. */
static void handle_interrupt(uint32_t channel)
{
    mock_device_write(channel, MOCK_RAISED, 1);
    mli_mov_interrupt(channel);
}

/* Returns the bits of CONTROL for a channel in use. */
static uint32_t enabled(void)
{
    return port_option_get(&interrupt_option) == POLLED ? MOCK_ENABLE
                                                        : MOCK_ENABLE | MOCK_INTERRUPTS;
}

static bool open_channel(uint32_t channel)
{
    struct lane *lane = &lanes[channel];

    if (port_option_get(&interrupt_option) == BY_THREAD && !mock_clock_start())
        return false;
    mock_device_set_handler(handle_interrupt);
    lane->slots = port_option_get(&ring_option) + 1;
    lane->head = 0;
    lane->tail = 0;
    atomic_store_explicit(&lane->high_water, 0, memory_order_relaxed);
    mock_device_write(channel, MOCK_RING_BASE, (uintptr_t)lane->ring);
    mock_device_write(channel, MOCK_RING_SIZE, lane->slots);
    mock_device_write(channel, MOCK_CONTROL, enabled() | MOCK_RESET);
    return true;
}

/* The pool has called synchronise(), so the device is not BUSY. */
static void close_channel(uint32_t channel)
{
    mock_device_write(channel, MOCK_CONTROL, MOCK_RESET);
    if (port_option_get(&interrupt_option) == BY_THREAD)
        mock_clock_stop();
}

/* Attached memory. Free entries have a size of 0. */
static atomic_flag attached_lock = ATOMIC_FLAG_INIT;
static struct attached {
    uintptr_t address;
    uint64_t size, bus;
} attached[MOCK_MAPPINGS];

static void lock_attached(void)
{
    while (atomic_flag_test_and_set_explicit(&attached_lock, memory_order_acquire))
        ;
}

static void unlock_attached(void)
{
    atomic_flag_clear_explicit(&attached_lock, memory_order_release);
}

/* Maps memory in the IOMMU: entry i of the table has the addresses (i + 1) << 40 and above. */
static int attach(mli_mov_memory *memory)
{
    const uint64_t offset = (uintptr_t)memory->address % PAGE;
    const bool write = memory->flags & MLI_MOV_MEMORY_WRITE;
    int i = 0, error = NO_ENTRY;

    if (!port_option_get(&iommu_option))
        return 0;
    lock_attached();
    while (i < MOCK_MAPPINGS && attached[i].size > 0)
        i++;
    memory->cookie = ((uint64_t)i + 1) << 40 | offset;
    if (i < MOCK_MAPPINGS && mock_bus_map(memory->cookie, memory->address, memory->size, write)) {
        attached[i] = (struct attached){(uintptr_t)memory->address, memory->size, memory->cookie};
        error = 0;
    }
    unlock_attached();
    return error;
}

static void detach(const mli_mov_memory *memory)
{
    lock_attached();
    for (int i = 0; i < MOCK_MAPPINGS; i++) {
        if (attached[i].size > 0 && attached[i].bus == memory->cookie)
            attached[i].size = 0;
    }
    mock_bus_unmap(memory->cookie);
    unlock_attached();
}

/* Returns the device's address of memory that a descriptor accesses. */
static uint64_t bus_address(const uint8_t *address)
{
    uint64_t bus = mli_bus_address(address);

    if (!port_option_get(&iommu_option))
        return bus;
    lock_attached();
    for (int i = 0; i < MOCK_MAPPINGS; i++) {
        const uintptr_t offset = (uintptr_t)address - attached[i].address;

        if (offset < attached[i].size)
            bus = attached[i].bus + offset;
    }
    unlock_attached();
    return bus;
}

static struct mock_descriptor encode(const struct mli_copy_box *box)
{
    struct mock_descriptor d = {
        .src = box->src ? bus_address(box->src) : 0,
        .dst = bus_address(box->dst),
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

/*
 * Fills the free slots of the ring from the plan, then writes TAIL once. Stops at the first piece
 * for the processor; only such pieces follow it.
 */
static void feed(uint32_t channel)
{
    struct lane *lane = &lanes[channel];
    const uint32_t before = lane->tail;
    const struct mli_descriptor *piece = &lane->piece;

    while (in_flight(lane) < lane->slots - 1 && !lane->for_processor &&
           mli_legalise_next(&lane->rest, &lane->piece)) {
        lane->for_processor = piece->flags & MLI_PIECE_CPU;
        if (lane->for_processor)
            break;
        lane->ring[lane->tail] = encode(&piece->box);
        lane->pieces[lane->tail] = *piece;
        lane->tail = (lane->tail + 1) % lane->slots;
    }
    if (lane->for_processor && in_flight(lane) == 0)
        mli_channel_again(channel); /* the device will raise no interrupt */
    if (lane->tail == before)
        return;
    if (in_flight(lane) > atomic_load_explicit(&lane->high_water, memory_order_relaxed))
        atomic_store_explicit(&lane->high_water, in_flight(lane), memory_order_relaxed);
    /* A real device does not see the processor's cache: its driver calls mli_cache_clean() for the
       new slots here, and a barrier before it writes TAIL. */
    mock_device_write(channel, MOCK_TAIL, lane->tail);
}

static void submit(uint32_t channel, struct mli_work *work)
{
    struct lane *lane = &lanes[channel];
    struct mli_channel_caps limits = {0};

    caps(channel, &limits);
    mli_legalise_init(&lane->rest, work->plan, &limits);
    lane->written = 0;
    lane->for_processor = false;
    lane->aborting = false;
    lane->visible = false;
    mli_work_clean(work);
    feed(channel);
    atomic_store_explicit(&lane->work, work, memory_order_release);
}

/* Makes the bytes that the device has written visible to the processor. */
static void make_visible(struct lane *lane, const struct mli_work *work)
{
    if (!lane->visible)
        mli_work_invalidate(work);
    lane->visible = true;
}

/*
 * Moves the next piece of the processor, once the device is idle: a busy device could be writing to
 * the same cache lines. Returns the number of pieces.
 */
static uint32_t help(struct lane *lane, struct mli_work *work)
{
    if (!lane->for_processor || lane->aborting || in_flight(lane) > 0)
        return 0;
    make_visible(lane, work);
    mli_piece_move(work, &lane->piece);
    lane->written += lane->piece.bytes;
    lane->for_processor = false;
    return 1;
}

/* Collects descriptors that the device has completed, up to its head. */
static uint32_t reap(struct lane *lane, uint32_t device_head, uint32_t budget)
{
    uint32_t reaped = 0;

    for (; lane->head != device_head && reaped < budget; reaped++) {
        lane->written += lane->pieces[lane->head].bytes;
        lane->head = (lane->head + 1) % lane->slots;
    }
    return reaped;
}

/* Returns the end of a work item that stopped in a piece, after `rows` of its rows. */
static struct mli_work_end end_at(const struct lane *lane, const struct mli_descriptor *piece,
                                  mli_status status, uint64_t rows)
{
    return (struct mli_work_end){
        .status = status,
        .descriptor = piece->index,
        .row = mli_piece_row(lane->rest.plan, piece, rows),
        .bytes = rows * piece->box.run,
    };
}

/*
 * Returns the first piece that was not done when the device stopped, or null if the work was
 * complete.
 */
static const struct mli_descriptor *find_undone(struct lane *lane)
{
    if (in_flight(lane) > 0)
        return &lane->pieces[lane->head];
    return lane->for_processor || mli_legalise_next(&lane->rest, &lane->piece) ? &lane->piece
                                                                               : NULL;
}

/* Returns whether the work has ended, and sets *end. All completed descriptors are collected. */
static bool has_ended(uint32_t channel, uint32_t status, struct mli_work_end *end)
{
    struct lane *lane = &lanes[channel];
    const struct mli_descriptor *undone;

    if (status & MOCK_ERROR)
        *end = end_at(lane, &lane->pieces[lane->head], MLI_STATUS_DMA_ERROR,
                      mock_device_read(channel, MOCK_ROWS));
    else if (lane->aborting ? status & MOCK_BUSY : in_flight(lane) > 0 || lane->for_processor)
        return false; /* the device may still write, or the processor has pieces left */
    else if (lane->aborting && (undone = find_undone(lane)))
        *end = end_at(lane, undone, MLI_STATUS_CANCELLED, 0);
    else
        *end = (struct mli_work_end){.status = MLI_STATUS_OK};
    end->bytes += lane->written;
    return true;
}

/* Resets the device after an error or an abort: the ring is empty and begins at slot 0. */
static void recover(uint32_t channel)
{
    mock_device_write(channel, MOCK_CONTROL, enabled() | MOCK_RESET);
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
        mock_device_write(channel, MOCK_CONTROL, enabled() | MOCK_ABORT);
    }
    status = (uint32_t)mock_device_read(channel, MOCK_STATUS);
    head = (uint32_t)mock_device_read(channel, MOCK_HEAD);
    reaped = reap(lane, head, budget);
    if (lane->head != head) {
        mli_channel_again(channel); /* the budget of the poll is used up */
        mli_work_progress(work, lane->written);
        return reaped;
    }
    if (!(status & MOCK_ERROR) && reaped < budget)
        reaped += help(lane, work);
    mli_work_progress(work, lane->written);
    if (!(status & MOCK_ERROR) && !lane->aborting)
        feed(channel);
    if (!has_ended(channel, status, &end))
        return reaped;
    if (end.status != MLI_STATUS_OK || lane->aborting)
        recover(channel);
    make_visible(lane, work);
    atomic_store_explicit(&lane->work, NULL, memory_order_relaxed);
    /* Call done() last: when it returns, the lane may have its next work item. */
    work->done(work, &end);
    return reaped;
}

/* The device is BUSY for a moment after the last descriptor. */
static void synchronise(uint32_t channel)
{
    while (mock_device_read(channel, MOCK_STATUS) & MOCK_BUSY) {
        if (port_option_get(&interrupt_option) == BY_PROGRAM)
            (void)mock_device_run(channel, 1);
        else
            mock_clock_yield(); /* under valgrind, the two threads could block one another for ever
                                 */
    }
}

/* Fills the capabilities, which are the same for every channel. */
static void stats(uint32_t channel, mli_mov_channel_stats *stats)
{
    if (channel < MOCK_DEVICE_CHANNELS)
        stats->queue_high_water =
            atomic_load_explicit(&lanes[channel].high_water, memory_order_relaxed);
}

/* A key of length 0 resets all options to their defaults. */
static bool option(const char *key, size_t length, uint64_t value)
{
    const struct port_option options[] = {
        {"ring", &ring_option, RING_DEFAULT, 1, MOCK_RING_MAX},
        {"loops", &loops_option, MOCK_LOOPS, 0, MOCK_LOOPS},
        {"interrupt", &interrupt_option, POLLED, POLLED, BY_PROGRAM},
        {"unit", &unit_option, 1, 1, MOCK_UNIT_MAX},
        {"worth", &worth_option, 0, 0, UINT32_MAX},
        {"any", &any_option, 0, 0, 1},
        {"iommu", &iommu_option, 0, 0, 1},
    };

    if (port_option_is(key, length, "unit") && (value & (value - 1)) != 0)
        return false;
    if (!port_option_set(options, sizeof(options) / sizeof(options[0]), key, length, value))
        return false;
    mock_device_set_unit(port_option_get(&unit_option));
    mock_bus_translate(port_option_get(&iommu_option));
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
    .attach = attach,
    .detach = detach,
};
