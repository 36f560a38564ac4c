/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/dma/run.h"

#include <stddef.h>

#include "libmli/src/dma/channel.h"
#include "libmli/src/dma/os.h"
#include "libmli/src/error.h"
#include "libmli/src/plan.h"

#if ENGINE_HAS_THREADS
#include <sys/mman.h>
#endif

enum { POLL_PAUSE_NS = 50 * 1000 };

/*
 * The running callbacks of a claim are one word, at first 0. Bit 0 is set while a thread sleeps in
 * callbacks_wait(), bits 1 to 16 count the running callbacks, bits 17 to 31 count how often that
 * number has dropped to 0. The last field shows a sleeping thread that no callback ran for a
 * moment, even if one runs again when the thread wakes: otherwise a callback that restarts its
 * transfer would keep the thread asleep for the whole chain.
 */
enum { AWAITED = 1u, RUNNING_ONE = 1u << 1, RUNNING_MASK = 0xffffu << 1 };

#define QUIET_ONE (UINT32_C(1) << 17)

static bool any_runs(uint32_t word)
{
    return word & RUNNING_MASK;
}

/* Counts a callback that is about to run. Call it before its transfer becomes done. */
static void callbacks_begin(_Atomic uint32_t *callbacks)
{
    atomic_fetch_add(callbacks, RUNNING_ONE);
}

/*
 * Counts a callback that has returned, and wakes the threads in callbacks_wait() after the last
 * callback.
 */
static void callbacks_end(_Atomic uint32_t *callbacks)
{
    uint32_t before = atomic_load_explicit(callbacks, memory_order_relaxed), after;

    do {
        after = any_runs(before) ? before - RUNNING_ONE : before; /* after a fork none may run */
        if (!any_runs(after))
            after = (after + QUIET_ONE) & ~(uint32_t)AWAITED;
    } while (!atomic_compare_exchange_weak(callbacks, &before, after));
    if (!any_runs(after) && before & AWAITED)
        unpark(callbacks);
}

/*
 * Sleeps until all callbacks that were running at the time of the call have returned. Returns at
 * the first moment without a running callback, so callbacks that begin later do not prolong the
 * wait.
 */
static void callbacks_wait(_Atomic uint32_t *callbacks)
{
    uint32_t now = atomic_load(callbacks);
    const uint32_t quiet = now / QUIET_ONE;

    while (any_runs(now) && now / QUIET_ONE == quiet) {
        if (!(now & AWAITED) && !atomic_compare_exchange_weak(callbacks, &now, now | AWAITED))
            continue;
        park(callbacks, now | AWAITED);
        now = atomic_load(callbacks);
    }
}

struct slot run_slots[POOL_SLOTS];
static MLI_THREAD_LOCAL bool in_callback;

static uint32_t number_of(const struct slot *slot)
{
    return (uint32_t)(slot - run_slots);
}

void run_clear(struct slot *slot)
{
    slot->callback = NULL;
    slot->hints = 0;
    atomic_store(&slot->state, SLOT_IDLE);
}

void run_forget(struct slot *slot)
{
    atomic_store_explicit(&slot->state, SLOT_IDLE, memory_order_relaxed);
}

/* Generations of claims are odd. */
static struct term *term_of(struct slot *slot, uint32_t generation)
{
    return &slot->terms[generation / 2 % SLOT_TERMS];
}

/*
 * Returns the term of the slot's present owner. A claim with a running transfer keeps its slots, so
 * the owner does not change.
 */
static struct term *current_term(struct slot *slot)
{
    return term_of(slot, atomic_load_explicit(&slot->generation, memory_order_relaxed));
}

/*
 * Returns the engine for a plan: the caller moves tiny plans itself, faster than a channel would,
 * unless the memory may make it wait.
 */
static const struct mli_engine *engine_for(const struct claim *claim, const struct mli_plan *plan)
{
    if (plan->bytes > channel_caps(claim->first)->tiny)
        return channel_engine();
    if (run_slot(claim->first)->hints & MLI_MOV_SLOW_MEMORY && !channel_is_stand_in(claim->first))
        return channel_engine();
    return &engine_inline;
}

/*
 * Splits the plan of the claim's first channel over its channels, as long as no part is tiny.
 * Returns the number of parts. Not inline, so that the copy of the plan in this function is not on
 * the stack while data moves.
 */
static __attribute__((noinline)) uint32_t split_over_channels(const struct claim *claim)
{
    struct mli_plan *out[POOL_CHANNELS], whole;

    for (uint32_t i = 0; i < claim->count; i++)
        out[i] = &channel_at(claim->first + i)->plan;
    if (!platform_can_split(out[0]))
        return 1;
    plan_copy(&whole, out[0]);
    return (uint32_t)split_among(&whole, claim->count, channel_caps(claim->first)->tiny, out);
}

/*
 * Returns the part that decides the end of the transfer: the first part that failed, or else the
 * first that was cancelled.
 */
static const struct channel *decisive_part(const struct channel *part, uint32_t parts)
{
    const struct channel *decisive = part;

    for (uint32_t i = 0; i < parts; i++) {
        const mli_status status = part[i].end.status;

        if (status == MLI_STATUS_OK)
            continue;
        if (status != MLI_STATUS_CANCELLED)
            return &part[i];
        if (decisive->end.status == MLI_STATUS_OK)
            decisive = &part[i];
    }
    return decisive;
}

/* Returns the row of the destination where a part stopped; null if it did not stop, or if the
   engine reports no such row. */
static const uint8_t *stopped_at(const struct channel *part)
{
    struct mli_copy_box box;

    if (part->end.status == MLI_STATUS_OK || part->end.descriptor > part->plan.slabs)
        return NULL;
    box = plan_box(&part->plan, part->end.descriptor);
    return part->end.row < box_rows(&box) ? box_row(&box, part->end.row) : NULL;
}

static void note_end(struct slot *slot)
{
    const struct channel *part = channel_at(number_of(slot));
    const uint32_t parts = atomic_load_explicit(&slot->parts, memory_order_relaxed);
    const struct channel *decisive = decisive_part(part, parts);
    size_t bytes = 0;

    for (uint32_t i = 0; i < parts; i++)
        bytes += (size_t)part[i].end.bytes;
    atomic_store_explicit(&slot->bytes, bytes, memory_order_relaxed);
    atomic_store_explicit(&current_term(slot)->status, (uint32_t)decisive->end.status,
                          memory_order_relaxed);
    atomic_store_explicit(&slot->channel, channel_number(decisive), memory_order_relaxed);
    atomic_store_explicit(&slot->descriptor, decisive->end.descriptor, memory_order_relaxed);
    atomic_store_explicit(&slot->row, (size_t)decisive->end.row, memory_order_relaxed);
    atomic_store_explicit(&slot->address, (uintptr_t)stopped_at(decisive), memory_order_relaxed);
}

/* Forks. The system clears a page in the child of a fork, so that the child need not ask for its
   process number at each call. */

enum { FORKED = 0, NOTICING, WATCHED };

static _Atomic uint32_t no_page = WATCHED, forks;
static _Atomic uint32_t *_Atomic fork_word = &no_page;

void run_watch_forks(void)
{
#if ENGINE_HAS_THREADS && defined(MADV_WIPEONFORK)
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    _Atomic uint32_t *expected = &no_page;
    void *page;

    if (atomic_load_explicit(&fork_word, memory_order_relaxed) != &no_page)
        return;
    page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    atomic_store((_Atomic uint32_t *)page, WATCHED);
    if (madvise(page, size, MADV_WIPEONFORK) != 0 ||
        !atomic_compare_exchange_strong(&fork_word, &expected, (_Atomic uint32_t *)page))
        munmap(page, size);
#endif
}

static __attribute__((cold, noinline)) void after_fork(void)
{
    processor_after_fork();
    for (uint32_t i = 0; i < POOL_SLOTS; i++) {
        for (uint32_t term = 0; term < SLOT_TERMS; term++)
            atomic_store(&run_slots[i].terms[term].callbacks, 0);
        channel_after_fork(i);
    }
    for (uint32_t i = 0; i < POOL_SLOTS; i++) {
        if (run_state(&run_slots[i]) != SLOT_RUNNING || channel_is_polled(i))
            continue;
        atomic_store(&run_slots[i].pending, 0);
        note_end(&run_slots[i]);
        atomic_store(&run_slots[i].state, SLOT_DONE);
    }
}

/* Notices a fork, or waits until another thread has. */
static __attribute__((cold, noinline)) void notice_fork(_Atomic uint32_t *word)
{
    uint32_t forked = FORKED;

    if (atomic_compare_exchange_strong(word, &forked, NOTICING)) {
        after_fork();
        atomic_fetch_add(&forks, 1);
        atomic_store(word, WATCHED);
    }
    while (atomic_load(word) != WATCHED)
        relax();
}

static inline void check_fork(void)
{
    _Atomic uint32_t *word = atomic_load_explicit(&fork_word, memory_order_relaxed);

    if (ENGINE_HAS_THREADS && atomic_load_explicit(word, memory_order_acquire) != WATCHED)
        notice_fork(word);
}

uint32_t run_count_forks(void)
{
    check_fork();
    return atomic_load(&forks);
}

struct slot *run_slot_of(const struct claim *claim)
{
    struct slot *slot;

    if (claim->first >= POOL_SLOTS || claim->generation % 2 == 0)
        return NULL;
    check_fork();
    slot = run_slot(claim->first);
    return atomic_load(&slot->generation) == claim->generation ? slot : NULL;
}

/*
 * Calls a completion callback. If the device has moved the work, the caller may be an interrupt of
 * a thread that moves others.
 */
static void call_back(void (*callback)(int32_t), int32_t cookie, bool by_processor)
{
    const bool before = in_callback;
    struct processor_queue queue = {.draining = false};

    if (!by_processor)
        processor_suspend(&queue);
    in_callback = true;
    callback(cookie);
    in_callback = before;
    processor_resume(&queue);
}

/* Completes the transfer after its last part. */
static void complete(struct slot *slot, bool by_processor)
{
    void (*callback)(int32_t) = slot->callback;
    const int32_t cookie = slot->cookie;
    _Atomic uint32_t *callbacks = &current_term(slot)->callbacks;

    note_end(slot);
    if (callback)
        callbacks_begin(callbacks);
    /* After this exchange the owner may start the next transfer or release the handle. Callback,
       cookie and term were read before for this reason. */
    if (atomic_exchange_explicit(&slot->state, SLOT_DONE, memory_order_acq_rel) == SLOT_AWAITED)
        unpark(&slot->state);
    if (callback) {
        call_back(callback, cookie, by_processor);
        callbacks_end(callbacks);
    }
}

static void part_done(struct mli_work *work, const struct mli_work_end *end)
{
    struct channel *channel =
        (struct channel *)(void *)((char *)work - offsetof(struct channel, work));
    struct slot *slot = &run_slots[channel->owner];
    const uint32_t number = channel_number(channel);
    const bool by_processor =
        work->hints & PROCESSOR_MOVED; /* read it before another part can end the transfer */
    const uint32_t last =
        channel->owner + atomic_load_explicit(&slot->parts, memory_order_relaxed) - 1;

    channel_end(channel, end);
    /* The transfer waits for this part, so the channels of the later parts are still its own. */
    if (POOL_CHANNELS > 1 && end->status != MLI_STATUS_OK && end->status != MLI_STATUS_CANCELLED) {
        for (uint32_t i = number + 1; i <= last; i++)
            channel_cancel(i, work_number(&channel_at(i)->work));
    }
    /* If only one part is pending, it is the current one: no other thread changes the count. */
    if (atomic_load_explicit(&slot->pending, memory_order_acquire) == 1 ||
        atomic_fetch_sub_explicit(&slot->pending, 1, memory_order_acq_rel) == 1)
        complete(slot, by_processor);
}

void run_start(const struct claim *claim, const void *plan)
{
    const uint32_t first = claim->first;
    struct slot *slot = &run_slots[first];
    struct mli_plan *own = &channel_at(first)->plan;
    const struct mli_engine *engine;
    uint32_t parts;

    plan_copy_bytes(own, plan);
    engine = engine_for(claim, own);
    parts = POOL_CHANNELS > 1 && claim->count > 1 ? split_over_channels(claim) : 1;
    for (uint32_t i = first; i < first + parts; i++)
        channel_begin(i, first, slot->hints, part_done);
    atomic_store_explicit(&slot->parts, parts, memory_order_relaxed);
    atomic_store_explicit(&slot->pending, parts, memory_order_relaxed);
    atomic_store_explicit(&slot->state, SLOT_RUNNING, memory_order_release);
    /*
     * A thread that sees the new number of starts also sees the transfer running: see
     * run_synchronise(). No other thread starts the slot now, so the increment need not be atomic.
     */
    atomic_store_explicit(&slot->starts,
                          atomic_load_explicit(&slot->starts, memory_order_relaxed) + 1,
                          memory_order_release);
    /* After the last submit, the transfer may be done and the claim released. */
    for (uint32_t i = first; i < first + parts; i++)
        channel_submit(i, engine);
}

static uint32_t poll_claim(const struct claim *claim)
{
    uint32_t completed = 0;

    for (uint32_t i = claim->first; i < claim->first + claim->count; i++)
        completed += channel_poll(i);
    return completed;
}

enum slot_state run_poll(const struct claim *claim, struct slot *slot)
{
    if (run_state(slot) == SLOT_RUNNING && channel_is_polled(claim->first))
        poll_claim(claim);
    return run_state(slot);
}

/* Returns whether the claim's transfer runs. A callback may release the handle while another thread
   waits on it; transfers of the next owner do not count. */
static bool still_runs(const struct claim *claim, struct slot *slot)
{
    return run_state(slot) == SLOT_RUNNING && run_slot_of(claim) == slot;
}

/* Polls the channels, and sleeps a little after a poll that completes nothing. */
static void wait_polling(const struct claim *claim, struct slot *slot)
{
    while (still_runs(claim, slot)) {
        if (poll_claim(claim) == 0)
            park_for(&slot->state, SLOT_RUNNING, POLL_PAUSE_NS);
    }
}

static void wait_sleeping(const struct claim *claim, struct slot *slot)
{
    while (still_runs(claim, slot)) {
        uint32_t running = SLOT_RUNNING;

        /* Ask for a wake-up. If the exchange fails, another thread has asked already, or the
           transfer is done and park() returns at once. */
        atomic_compare_exchange_strong(&slot->state, &running, SLOT_AWAITED);
        if (run_slot_of(claim) == slot)
            park(&slot->state, SLOT_AWAITED);
    }
}

mli_status run_wait(const struct claim *claim, struct slot *slot)
{
    if (channel_is_polled(claim->first))
        wait_polling(claim, slot);
    else
        wait_sleeping(claim, slot);
    return (mli_status)atomic_load_explicit(&term_of(slot, claim->generation)->status,
                                            memory_order_relaxed);
}

void run_wait_for_callbacks(const struct claim *claim, struct slot *slot)
{
    callbacks_wait(&term_of(slot, claim->generation)->callbacks);
}

bool run_settle(const struct claim *claim, struct slot *slot)
{
    uint32_t starts;

    /* Read the number of starts before the state: a restart between the two changes the number. */
    do {
        starts = atomic_load(&slot->starts);
        if (still_runs(claim, slot))
            return false;
        run_wait_for_callbacks(claim, slot);
    } while (atomic_load(&slot->starts) != starts);
    return true;
}

void run_cancel(const struct claim *claim, struct slot *slot)
{
    const uint32_t parts = atomic_load_explicit(&slot->parts, memory_order_relaxed);

    for (uint32_t i = claim->first; i < claim->first + parts; i++) {
        const uint32_t work = work_number(&channel_at(i)->work);

        /*
         * The last part may complete at any time, even inside channel_cancel(), and its callback
         * may release the claim. If the claim is still valid after `work` is read, `work` is the
         * number of a work item of this claim.
         */
        if (run_slot_of(claim) != slot || run_state(slot) != SLOT_RUNNING)
            return;
        channel_cancel(i, work);
    }
}

void run_synchronise(const struct claim *claim, struct slot *slot)
{
    uint32_t starts;

    /* A callback may start the next transfer before it returns: wait for all these transfers. */
    do {
        starts = atomic_load(&slot->starts);
        (void)run_wait(claim, slot);
        run_wait_for_callbacks(claim, slot);
    } while (atomic_load(&slot->starts) != starts);
    if (channel_engine()->synchronise && !channel_is_stand_in(claim->first)) {
        for (uint32_t i = claim->first; i < claim->first + claim->count; i++)
            channel_engine()->synchronise(i);
    }
}

void run_status(struct slot *slot, mli_mov_status_t *status)
{
    const enum slot_state state = run_state(slot);

    if (state == SLOT_DONE) {
        status->code =
            (mli_status)atomic_load_explicit(&current_term(slot)->status, memory_order_relaxed);
        status->bytes = atomic_load_explicit(&slot->bytes, memory_order_relaxed);
        status->channel = atomic_load_explicit(&slot->channel, memory_order_relaxed);
        status->descriptor = atomic_load_explicit(&slot->descriptor, memory_order_relaxed);
        status->row = atomic_load_explicit(&slot->row, memory_order_relaxed);
        status->address = (const void *)atomic_load_explicit(&slot->address, memory_order_relaxed);
        status->stage = MLI_MOV_DONE;
    } else if (state == SLOT_RUNNING) {
        const uint32_t parts = atomic_load_explicit(&slot->parts, memory_order_relaxed);

        for (uint32_t i = 0; i < parts; i++)
            status->bytes += channel_written(number_of(slot) + i);
        status->stage = MLI_MOV_RUNNING;
    }
}

bool run_in_callback(void)
{
    return in_callback;
}
