/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/dma/pool.h"

#include "libmli/src/dma/channel.h"
#include "libmli/src/error.h"

enum { REASON_MAX = 192 }; /* maximum bytes of a message that quotes an engine's reason */

/* Low half: free channels. High half: channels of the pool. */
static _Atomic uint32_t channels;

/* A free channel outside the pool means that a thread is changing the pool. */
#define CHANGING 1u
static _Atomic uint32_t changed_after; /* result of run_forks() when the pool changed last */

/* Bit i is set: channel POOL_CHANNELS + i, which is no DMA channel (channel.h), is claimed. */
static _Atomic uint32_t stand_ins;

_Static_assert(POOL_CHANNELS <= 16 && POOL_CHANNELS <= MLI_MOV_MAX_CHANNELS,
               "two masks share 32 bits");
_Static_assert(POOL_STAND_INS <= 32, "a mask has 32 bits");

/* Replaces __builtin_popcount(), which may call a function that a freestanding library lacks. */
static __attribute__((unused)) uint32_t count_bits(uint32_t mask)
{
    uint32_t count = 0;

    for (; mask; mask &= mask - 1)
        count++;
    return count;
}

bool pool_refuse_with_reason(const struct mli_engine *engine, mli_status status)
{
    char text[REASON_MAX] = "engine ";
    const char *reason = engine->reason ? engine->reason() : "";
    size_t length = sizeof("engine ") - 1;

    if (!*reason)
        return false;
    for (; *reason && length < sizeof(text) - 1; reason++)
        text[length++] = *reason;
    (void)decline(status, text, "");
    return true;
}

static uint32_t run_mask(uint32_t first, uint32_t count)
{
    return ((1u << count) - 1) << first;
}

static void close_channels(uint32_t mask)
{
    for (uint32_t i = 0; i < POOL_CHANNELS; i++) {
        if (mask >> i & 1)
            channel_close(i);
    }
}

/* Opens channels. Returns false, with none of them open, if one is not available. */
static bool open_channels(uint32_t mask)
{
    for (uint32_t i = 0; i < POOL_CHANNELS; i++) {
        if (mask >> i & 1 && !channel_open(i)) {
            close_channels(mask & run_mask(0, i));
            return false;
        }
    }
    return true;
}

/* Refuses channels that the engine cannot open. */
static mli_status complain_of_open(uint32_t mask)
{
    if (pool_refuse_with_reason(channel_engine(), MLI_STATUS_NOT_ENGH_MEM))
        return MLI_STATUS_NOT_ENGH_MEM;
    return decline(MLI_STATUS_NOT_ENGH_MEM, "num_ch",
                   ": the system has no resources for % more channels", count_bits(mask));
}

/* Replaces one set of channels by another, while no other thread can use either. */
static mli_status change(uint32_t before, uint32_t after)
{
    if (!open_channels(after & ~before))
        return complain_of_open(after & ~before);
    close_channels(before & ~after);
    return MLI_STATUS_OK;
}

static mli_status check_range(int offset, int count, uint32_t have)
{
    if (offset >= 0 && count >= 0 && (uint32_t)offset <= have &&
        (uint32_t)count <= have - (uint32_t)offset)
        return MLI_STATUS_OK;
    if (offset < 0 || count < 0)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "ch_offset",
                      ": % channels from % on given; both must be at least 0", count, offset);
    return decline(MLI_STATUS_ARGUMENT_ERROR, "ch_offset",
                   ": channels % to % given, but the engine has 0 to %", offset,
                   (int64_t)offset + count - 1, (int64_t)have - 1);
}

/* Returns whether a thread is changing the pool: not if a fork has left that thread in the parent.
 */
static bool is_changing(uint32_t now)
{
    return now == CHANGING && (!ENGINE_HAS_THREADS || changed_after == run_forks());
}

static mli_status check_idle(uint32_t now)
{
    if (is_changing(now))
        return decline(MLI_STATUS_ARGUMENT_ERROR, "num_ch",
                       ": another thread is changing the pool");
    if (now != CHANGING && (now >> 16) != (now & 0xffff))
        return decline(MLI_STATUS_ARGUMENT_ERROR, "num_ch",
                       ": % channels belong to handles; release these first",
                       count_bits((now >> 16) & ~now));
    return MLI_STATUS_OK;
}

/* Locks an idle pool against other threads; *before becomes its channels. */
static mli_status begin_change(uint32_t *before)
{
    uint32_t now = atomic_load(&channels);
    mli_status status;

    if (run_in_callback())
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "num_ch",
                      ": a completion callback must not change the pool");
    do {
        status = check_idle(now);
        if (status != MLI_STATUS_OK)
            return status;
    } while (!atomic_compare_exchange_weak(&channels, &now, CHANGING));
    *before = now >> 16;
    if (ENGINE_HAS_THREADS)
        changed_after = run_forks();
    return MLI_STATUS_OK;
}

static void end_change(uint32_t mask)
{
    atomic_store(&channels, mask << 16 | mask);
}

mli_status mli_mov_set_num_dma_ch(int offset, int count)
{
    uint32_t before, have, mask;
    mli_status status;

    if (ENGINE_HAS_THREADS)
        run_watch_forks();
    status = begin_change(&before);
    if (status != MLI_STATUS_OK)
        return status;
    have = channel_engine()->probe();
    status = check_range(offset, count, have < POOL_CHANNELS ? have : POOL_CHANNELS);
    if (status == MLI_STATUS_OK) {
        mask = run_mask((uint32_t)offset, (uint32_t)count);
        status = change(before, mask);
    }
    end_change(status == MLI_STATUS_OK ? mask : before);
    return status;
}

mli_status pool_lock_empty(void)
{
    uint32_t before;
    mli_status status = begin_change(&before);

    if (status == MLI_STATUS_OK && before != 0) {
        end_change(before);
        return decline(MLI_STATUS_ARGUMENT_ERROR, "engine",
                       ": the pool has % channels; remove them first", count_bits(before));
    }
    return status;
}

void pool_unlock_empty(void)
{
    end_change(0);
}

/*
 * Returns the first channel of a run of `count` free channels, or POOL_CHANNELS if there is
 * no such run.
 */
static uint32_t find_run(uint32_t now, uint32_t count)
{
    for (uint32_t first = 0; first + count <= POOL_CHANNELS; first++) {
        const uint32_t mask = run_mask(first, count);

        if ((now & (now >> 16) & mask) == mask)
            return first;
    }
    return POOL_CHANNELS;
}

static bool make_claim(uint32_t first, uint32_t count, struct claim *claim)
{
    (void)run_forks(); /* ends transfers of the parent of a fork, before this claim starts any */
    claim->first = first;
    claim->count = count;
    claim->generation = atomic_fetch_add(&run_slot(first)->generation, 1) + 1;
    return true;
}

/*
 * Claims a run of free channels. Returns false if there is no such run, and sets *word to the state
 * that was checked.
 */
static bool take(uint32_t count, struct claim *claim, uint32_t *word)
{
    uint32_t now = atomic_load(&channels), first;

    do {
        first = find_run(now, count);
        *word = now;
        if (first == POOL_CHANNELS)
            return false;
    } while (!atomic_compare_exchange_weak(&channels, &now, now & ~run_mask(first, count)));
    return make_claim(first, count, claim);
}

/* Claims the channels [first, first + count), if all are free. */
static bool take_at(uint32_t first, uint32_t count, struct claim *claim)
{
    const uint32_t mask = run_mask(first, count);
    uint32_t now = atomic_load(&channels);

    do {
        if ((now & (now >> 16) & mask) != mask)
            return false;
    } while (!atomic_compare_exchange_weak(&channels, &now, now & ~mask));
    return make_claim(first, count, claim);
}

/* Claims a channel that is no DMA channel: the first free stand-in (channel.h). */
static mli_status take_stand_in(struct claim *claim)
{
    uint32_t now = atomic_load(&stand_ins), i;

    if (ENGINE_HAS_THREADS)
        run_watch_forks();
    do {
        for (i = 0; i != POOL_STAND_INS && now >> i & 1;)
            i++;
        if (i == POOL_STAND_INS)
            return decline(MLI_STATUS_NOT_ENGH_MEM, "num_ch",
                           ": % handles without channels exist already; release one first",
                           POOL_STAND_INS);
    } while (!atomic_compare_exchange_weak(&stand_ins, &now, now | 1u << i));
    make_claim(POOL_CHANNELS + i, 1, claim);
    return MLI_STATUS_OK;
}

mli_status pool_claim(int count, struct claim *claim)
{
    uint32_t now;

    if (count < 0 || count > POOL_CHANNELS)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "num_ch", ": % given; must be 0 to %", count,
                      POOL_CHANNELS);
    if (count == 0)
        return take_stand_in(claim);
    if (!take((uint32_t)count, claim, &now))
        return decline(MLI_STATUS_NOT_ENGH_MEM, "num_ch",
                       ": % adjacent free channels are needed; % of % are free", count,
                       count_bits(now & (now >> 16)), count_bits(now >> 16));
    return MLI_STATUS_OK;
}

mli_status pool_claim_at(int first, int count, struct claim *claim)
{
    if (count < 1 || first < 0 || first > POOL_CHANNELS - 1 || count > POOL_CHANNELS - first)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "first", ": channels % to % given; must be 0 to %",
                      first, (int64_t)first + count - 1, POOL_CHANNELS - 1);
    if (!take_at((uint32_t)first, (uint32_t)count, claim))
        return decline(MLI_STATUS_NOT_ENGH_MEM, "first", ": channels % to % are not all free",
                       first, first + count - 1);
    return MLI_STATUS_OK;
}

bool pool_try_claim(struct claim *claim)
{
    uint32_t now;

    return take(1, claim, &now);
}

bool pool_release(const struct claim *claim)
{
    struct slot *slot = run_slot(claim->first);
    uint32_t generation = claim->generation;

    if (!atomic_compare_exchange_strong(&slot->generation, &generation, generation + 1))
        return false;
    run_clear(slot);
    if (channel_is_stand_in(claim->first))
        atomic_fetch_and(&stand_ins, ~(1u << (claim->first - POOL_CHANNELS)));
    else
        atomic_fetch_or(&channels, run_mask(claim->first, claim->count));
    return true;
}

static mli_status check_platform(const struct mli_platform *given)
{
    if (!given)
        return MLI_STATUS_OK;
    if (given->size < offsetof(struct mli_platform, clean))
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "platform",
                      ".size: % given; must be sizeof(struct mli_platform)", given->size);
    if (given->line & (given->line - 1))
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "platform",
                      ".line: % given; must be a power of two", given->line);
    return MLI_STATUS_OK;
}

mli_status mli_mov_set_platform(const struct mli_platform *given)
{
    mli_status status = check_platform(given);

    if (status == MLI_STATUS_OK)
        status = pool_lock_empty();
    if (status != MLI_STATUS_OK)
        return status;
    platform_set(given);
    pool_unlock_empty();
    return MLI_STATUS_OK;
}

mli_status mli_mov_get_channel_stats(int channel, mli_mov_channel_stats *stats)
{
    if (channel < 0 || channel >= POOL_CHANNELS)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "channel", ": % given; must be 0 to %", channel,
                      POOL_CHANNELS - 1);
    if (!stats)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "stats", ": null given");
    (void)run_forks(); /* a thread of the parent may have been changing the counters */
    channel_read_stats((uint32_t)channel, stats);
    if (atomic_load_explicit(&channels, memory_order_relaxed) >> 16 >> channel & 1 &&
        channel_engine()->stats)
        channel_engine()->stats((uint32_t)channel, stats);
    return MLI_STATUS_OK;
}
