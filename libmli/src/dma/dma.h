/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DMA channels and engines. From the top to the bottom; a file calls only files below its line:
 *
 *   engines.c                  the table of engines, and choosing one
 *   pool.c, engine_fault.c     which channels there are, and their owners; injected faults
 *   run.c                      a transfer on the channels of a claim
 *   channel.c                  one channel: its work item, polling, statistics
 *   processor.c, split.c       engines inline and threads; cutting a plan for several channels
 *   platform.c, legalise.c     what engines call: cancels, caches, addresses, descriptors
 *
 * To add an engine of the library, start here: write it in engine_NAME.c, which libmli/meson.build
 * lists, declare it below, and add it to the table in engines.c. Then add it to the table in
 * docs/library.md, and to the list that tests/unit/daemon/test_engines.c expects. Other engines are
 * added at run time, by mli_mov_add_engine() (mli_engine.h).
 *
 * Four functions cut a plan, each for another caller:
 *
 *   plan of a transfer
 *     |  split.c       run_start(), once: a PART for each channel of the claim, of about equal size
 *     v
 *   part = plan of a work item, on one channel
 *     |-- legalise.c       the driver of a device, when its ring has room: DESCRIPTORS that the
 *     |                    registers of the channel can express (mli_engine.h, public)
 *     |-- processor.c      engines inline and threads, for work items above 256 KiB: CHUNKS;
 *     |                    a cancel takes effect between two chunks
 *     `-- engine_fault.c   engine fault: PIECES in random order, or the pieces before the place
 *                          where the work fails; the engine inside gets each piece as a work item
 *
 * processor.c and engine_fault.c cut with the legaliser, under limits of their own (the rows before
 * a failure excepted, which engine_fault.c finds by itself). split.c does not: it needs parts of
 * about equal size, and the legaliser cuts pieces of at most a given size. All results are disjoint
 * and together write exactly the bytes of the plan.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libmli/src/build.h"
#include "mli_engine.h"

/*
 * Numbers of channels, of handles without channels that can exist at a time, and of slots for both.
 */
#define POOL_CHANNELS  (MLI_CHANNELS > 0 ? MLI_CHANNELS : 1)
#define POOL_STAND_INS MLI_CPU_HANDLES
#define POOL_SLOTS     (POOL_CHANNELS + POOL_STAND_INS)

/* processor.c: engines without hardware */

/** The thread that starts a transfer also moves the data. Needs no threads and no OS. */
extern const struct mli_engine engine_inline;

#if defined(__linux__) && __STDC_HOSTED__ && !defined(MLI_NO_THREADS)
#define ENGINE_HAS_THREADS 1
/** A thread for each channel. */
extern const struct mli_engine engine_threads;
#define ENGINE_DEFAULT engine_threads
#else
#define ENGINE_HAS_THREADS 0
#define ENGINE_DEFAULT     engine_inline
#endif

/* This bit of work->hints is set if the thread that calls done has moved the data itself. */
#define PROCESSOR_MOVED (UINT32_C(1) << 31)

/**
 * Moves a work item on the calling thread and calls its done. A done may submit the next work item,
 * and that work's done another: inside a done, work items wait in a queue of the thread, so a chain
 * of work items does not grow the stack. May be called by an interrupt of the thread at any time.
 */
void processor_run(struct mli_work *work);

/**
 * Resets the engine `threads` in the child of a fork, which has none of its threads: drops all
 * waiting work items. The threads start again when a channel gets work.
 */
void processor_after_fork(void);

/* The work items that waited before processor_suspend(). Private. */
struct processor_queue {
    bool draining;
    struct mli_work *latest;
};

/**
 * Until processor_resume(), work items that this thread submits are moved at once, although the
 * thread is already moving others. A completion callback in an interrupt needs this: the code that
 * was interrupted may never continue, and would then never move them.
 */
void processor_suspend(struct processor_queue *before);
void processor_resume(const struct processor_queue *before);

/* engine_fault.c */

#ifdef MLI_NO_FAULT
#define ENGINE_HAS_FAULT 0
#else
#define ENGINE_HAS_FAULT 1
#endif

/** Wraps another engine, and injects faults: delays, errors, endless work items, flipped bits. */
extern const struct mli_engine engine_fault;

/** Resets all options of engine_fault to their defaults, and makes it wrap *engine. */
void engine_fault_reset(const struct mli_engine *engine);

/** Makes engine_fault count work items from 1 again. */
void engine_fault_restart_count(void);

/* split.c */

/**
 * Cuts a plan into at most `parts` disjoint parts with about equal numbers of bytes; out[0] is the
 * first in the order of the destination's rows. Cuts between rows; if rows are shorter than a cache
 * line, between cache lines. Returns the number of parts; no part is empty.
 */
size_t split_plan(const struct mli_plan *plan, size_t parts, struct mli_plan *const out[]);

/**
 * Cuts a plan for at most `channels` channels, into fewer parts if parts would have `tiny` bytes or
 * less: these are not worth a channel. Returns the number of parts, at least 1.
 */
size_t split_among(const struct mli_plan *plan, size_t channels, size_t tiny,
                   struct mli_plan *const out[]);

/* platform.c */

/** Replaces the platform's functions; null: a coherent platform with the processor's addresses. */
void platform_set(const struct mli_platform *platform);

/** Requests an interrupt of the channel. Returns false if the platform cannot. */
bool platform_pend(uint32_t channel);

/**
 * Returns whether several channels may write parts of the plan: the platform is coherent, or each
 * row of the destination begins a cache line. Otherwise the cache maintenance for one part could
 * overwrite bytes of another.
 */
bool platform_can_split(const struct mli_plan *plan);

/*
 * A cancel may be late: another thread may already have ended the work item, and started the
 * channel's next one for another owner. A cancel therefore names the work item by its number.
 */

/** Gives a work item its number, which is not 0, and marks the work item as not cancelled. */
static inline void work_begin(struct mli_work *work, uint32_t number)
{
    __atomic_store_n(&work->number, number, __ATOMIC_RELAXED);
    __atomic_store_n(&work->cancelled, number - 1, __ATOMIC_SEQ_CST);
}

static inline uint32_t work_number(const struct mli_work *work)
{
    return __atomic_load_n(&work->number, __ATOMIC_RELAXED);
}

/** Cancels the work item with this number; does nothing if that work item has ended. */
static inline void work_cancel(struct mli_work *work, uint32_t number)
{
    uint32_t before = number - 1;

    (void)__atomic_compare_exchange_n(&work->cancelled, &before, number, false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST);
}
