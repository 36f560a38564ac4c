/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/sim/device.h"

#include <inttypes.h>
#include <string.h>

#include "mli_engine.h"
#include "tests/sim/fiber.h"
#include "tests/sim/world.h"

enum {
    LATENCY_US_MAX = 20,
    SLOW_US_MAX = 20000,
    STUCK_MS_MAX = 60000,
    SLOW = 200 /* transfers out of 10 000 */
};

struct channel {
    struct mli_work *work; /* null: idle */
    uint64_t due;          /* time at which the transfer ends */
    bool stuck, breaks;
    uint64_t latest;         /* time of the latest submit */
    uint64_t given_up;       /* time of the latest cancel of a stuck transfer */
    uint64_t stuck_ns;       /* time from the submit of the stuck transfer to its cancel */
    uint64_t quarantine_end; /* 0: the service has not reported this channel as stuck */
};

static struct {
    struct channel channels[MLI_MOV_MAX_CHANNELS];
    uint32_t tiny;
    uint64_t quarantine_ns;
    uint64_t begun, ended;
    bool repaired;
} device;

static void move_row(const struct mli_copy_box *box, const size_t *at)
{
    const uint8_t *src = box->src;
    uint8_t *dst = box->dst;

    for (size_t i = 0; i < box->loops; i++) {
        dst += at[i] * box->loop[i].dst_step;
        if (src)
            src += at[i] * box->loop[i].src_step;
    }
    if (src)
        memcpy(dst, src, box->run);
    else
        memset(dst, 0, box->run);
}

static void move_box(const struct mli_copy_box *box)
{
    size_t at[MLI_MAX_RANK] = {0}, level;

    do {
        move_row(box, at);
        for (level = box->loops; level > 0 && ++at[level - 1] == box->loop[level - 1].count;)
            at[--level] = 0;
    } while (level > 0);
}

/* Moves the pieces one by one: other fibers may run between two pieces. */
static void move(struct channel *channel, struct mli_work_end *end)
{
    const struct mli_channel_caps caps = {.loops = MLI_MAX_RANK};
    struct mli_work *work = channel->work;
    struct mli_legaliser legaliser;
    struct mli_descriptor piece;

    mli_legalise_init(&legaliser, work->plan, &caps);
    while (mli_legalise_next(&legaliser, &piece)) {
        end->descriptor = piece.index;
        end->row = piece.row;
        if (mli_work_cancelled(work)) {
            end->status = MLI_STATUS_CANCELLED;
            return;
        }
        if (channel->breaks && world_chance(5000)) {
            end->status = MLI_STATUS_DMA_ERROR;
            return;
        }
        move_box(&piece.box);
        end->bytes += piece.bytes;
        mli_work_progress(work, end->bytes);
        if (world_chance(1000))
            fiber_yield();
    }
}

static void finish(struct channel *channel)
{
    struct mli_work_end end = {.status = MLI_STATUS_OK};
    struct mli_work *work = channel->work;

    move(channel, &end);
    channel->work = NULL; /* done() may give the channel a new work item */
    device.ended++;
    work->done(work, &end);
}

static bool is_due(const struct channel *channel)
{
    return channel->work && channel->due <= world_now();
}

static bool any_is_due(void *context)
{
    (void)context;
    for (int i = 0; i < MLI_MOV_MAX_CHANNELS; i++) {
        if (is_due(&device.channels[i]))
            return true;
    }
    return false;
}

/*
 * The next time at which a channel has something to do. It may become earlier while the device
 * waits.
 */
static uint64_t next_due(void)
{
    uint64_t next = FIBER_FOREVER;

    for (int i = 0; i < MLI_MOV_MAX_CHANNELS; i++) {
        const struct channel *channel = &device.channels[i];

        if (channel->work && channel->due < next)
            next = channel->due;
    }
    return next;
}

static bool woken;

static bool must_look(void *context)
{
    return woken || any_is_due(context);
}

static void serve(void *argument)
{
    (void)argument;
    for (;;) {
        const unsigned first = world_below(MLI_MOV_MAX_CHANNELS);

        woken = false;
        (void)fiber_wait(must_look, NULL, next_due());
        for (unsigned i = 0; i < MLI_MOV_MAX_CHANNELS; i++) {
            struct channel *channel = &device.channels[(first + i) % MLI_MOV_MAX_CHANNELS];

            if (is_due(channel))
                finish(channel);
        }
    }
}

static uint32_t probe(void)
{
    return MLI_MOV_MAX_CHANNELS;
}

static void caps(uint32_t number, struct mli_channel_caps *caps)
{
    (void)number;
    caps->loops = MLI_MAX_RANK;
    caps->tiny = device.tiny;
}

static void check_not_quarantined(const struct channel *channel, uint32_t number)
{
    if (channel->latest < channel->quarantine_end)
        world_fail("channel %u gets a work item %" PRIu64 " us before its quarantine ends", number,
                   (channel->quarantine_end - channel->latest) / US);
}

static void submit(uint32_t number, struct mli_work *work)
{
    struct channel *channel = &device.channels[number];

    if (channel->work)
        world_fail("channel %u gets a second work item", number);
    channel->work = work;
    channel->latest = world_now();
    check_not_quarantined(channel, number);
    channel->stuck = !device.repaired && world_chance(world_rates.stuck);
    channel->breaks = world_chance(world_rates.device);
    channel->due = world_now() + world_below(LATENCY_US_MAX) * US;
    if (world_chance(SLOW))
        channel->due += world_below(SLOW_US_MAX) * US;
    if (channel->stuck)
        channel->due = world_now() + (uint64_t)world_between(1, STUCK_MS_MAX) * MS;
    device.begun++;
    woken = true;
}

static void cancel(uint32_t number)
{
    struct channel *channel = &device.channels[number];

    if (!channel->work || !mli_work_cancelled(channel->work))
        return;
    if (channel->stuck) {
        channel->given_up = world_now();
        channel->stuck_ns = world_now() - channel->latest;
    }
    if (!channel->stuck || world_chance(5000))
        channel->due = world_now() + world_below(LATENCY_US_MAX) * US;
    woken = true;
}

static const struct mli_engine engine = {
    .size = sizeof engine,
    .name = "sim",
    .probe = probe,
    .caps = caps,
    .submit = submit,
    .cancel = cancel,
};

void device_begin(struct process *process, uint32_t tiny, uint64_t quarantine_ns)
{
    device.tiny = tiny;
    device.quarantine_ns = quarantine_ns;
    if (mli_mov_add_engine(&engine) != MLI_STATUS_OK)
        world_fail("mli_mov_add_engine: refused");
    (void)fiber_start(process, serve, NULL);
}

void device_quarantined(uint32_t number, uint64_t ms)
{
    struct channel *channel = &device.channels[number % MLI_MOV_MAX_CHANNELS];
    const uint64_t stuck_ms = channel->stuck_ns / MS;

    if (ms + 1 < stuck_ms || ms > stuck_ms + 1)
        return; /* the service reports an earlier cancel than the latest one */
    channel->quarantine_end = channel->given_up + device.quarantine_ns;
    if (channel->latest > channel->given_up)
        check_not_quarantined(channel, number);
}

void device_repair(void)
{
    device.repaired = true;
    for (int i = 0; i < MLI_MOV_MAX_CHANNELS; i++) {
        if (device.channels[i].stuck)
            device.channels[i].due = world_now();
    }
    woken = true;
}

uint64_t device_begun(void)
{
    return device.begun;
}

uint64_t device_ended(void)
{
    return device.ended;
}
