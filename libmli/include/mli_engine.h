/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines: the functions of a DMA driver, which the channel pool of mli_mov_* calls (extension).
 * docs/porting.md explains them with a complete example, libmli/port/mock.
 *
 * To add an engine, start here: write the functions of a struct mli_engine (probe, caps and submit
 * at least), and call mli_mov_add_engine() at the start of the program, or add the engine to
 * libmli/port/ports.c, which mlid and mlictl link. Then mli_mov_set_engine() knows its name. The
 * library's own engines are in libmli/src/dma (engines.h).
 *
 * Glossary
 *   engine      a DMA controller, or code in the place of one. Its channels are numbered from 0.
 *   plan        the bytes that one channel moves (mli_plan.h)
 *   work item   a plan on a channel, from submit until done
 *   legalise    cut a plan into descriptors that the registers of a channel can express
 *
 * Guarantees of the pool for one channel
 *   - It calls open before the first work item and close after the last.
 *   - The channel has at most one work item at a time. The pool submits the next work item after
 *     done of the previous one was called: possibly inside that done, or on another thread before
 *     done has returned. So a channel must not use a work item after it has called done, and done
 *     is the last action of a poll.
 *   - It never calls submit and poll of a channel concurrently, except for such a submit.
 *   - It may call poll for a channel without a work item, and cancel at any time from any thread.
 * Calls for different channels may come from different threads concurrently.
 */
#ifndef MLI_ENGINE_H
#define MLI_ENGINE_H

#include "mli_mov_api.h"
#include "mli_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** The result of a work item (struct mli_work). */
struct mli_work_end {
    mli_status status;   /**< MLI_STATUS_OK, MLI_STATUS_CANCELLED or MLI_STATUS_DMA_ERROR */
    uint32_t descriptor; /**< not OK: the descriptor in which the work stopped */
    uint64_t row;   /**< not OK: the first row of that descriptor that was not written completely */
    uint64_t bytes; /**< bytes written for certain; not OK: may be too low */
    uint64_t busy_ns; /**< time the channel worked; 0 if there is no clock */
};

/** A plan on a channel. The submitter owns it and keeps it in place until done is called. */
struct mli_work {
    const struct mli_plan *plan; /**< read only */
    /**
     * Call it exactly once for each submit, when the last byte is written and the channel will
     * access neither memory nor the work again. Any thread may call it, also before submit has
     * returned.
     */
    void (*done)(struct mli_work *work, const struct mli_work_end *end);
    void *engine;       /**< the engine may use it from submit to done */
    size_t written;     /**< private: mli_work_progress() */
    uint32_t cancelled; /**< private: mli_work_cancelled() */
    uint32_t hints;     /**< private: mli_mov_set_hints() */
};

/**
 * Returns whether the work should stop early. Fast enough to call for each descriptor. Any thread.
 */
bool mli_work_cancelled(const struct mli_work *work);

/** Sets the number of bytes that the work has written, for mli_mov_get_status(). */
void mli_work_progress(struct mli_work *work, size_t bytes);

/**
 * The channel's work items make progress only while poll is called; without the flag they complete
 * by themselves.
 */
#define MLI_CHANNEL_POLLED 1u
/** The processor does the work items: a synchronous move is faster without such a channel. */
#define MLI_CHANNEL_CPU 2u

/** The capabilities of a channel. Zero means no limit, except for `loops`. */
struct mli_channel_caps {
    uint32_t flags;
    uint32_t loops;   /**< number of loops around a run that one descriptor can express, 0 to
                         MLI_MAX_RANK */
    size_t count_max; /**< most iterations of one loop */
    size_t run_max;   /**< most bytes of one run */
    size_t step_max;  /**< most bytes of one step, on either side */
    size_t bytes_max; /**< most bytes of one descriptor */
    size_t tiny;      /**< up to this size a transfer is faster without the channel: the thread that
                         starts it moves it */
};

/** One piece of a plan that a channel's registers can express. */
struct mli_descriptor {
    struct mli_copy_box box; /**< at most caps.loops loops; src null: write zeros */
    size_t bytes;
    uint32_t index; /**< descriptor of the plan that the piece was cut from */
    uint64_t row;   /**< first row that the piece writes */
};

/** Cuts a plan into legal descriptors, one at a time. Plain data: may be copied. */
struct mli_legaliser {
    const struct mli_plan *plan;
    struct mli_channel_caps caps;
    struct mli_copy_box box;       /**< private: the descriptor that is being cut */
    uint32_t index;                /**< private */
    bool cutting;                  /**< private */
    bool blocks;                   /**< private: pieces of a transpose need not be whole rows */
    size_t at[MLI_MAX_RANK + 1];   /**< private: start of the next piece; the last entry is the
                                      position in the run */
    size_t take[MLI_MAX_RANK + 1]; /**< private: size of a piece; last: of the run */
};

/** Starts at the plan's first descriptor. Copies *caps. */
void mli_legalise_init(struct mli_legaliser *l, const struct mli_plan *plan,
                       const struct mli_channel_caps *caps);

/** Sets *piece to the next piece; false at the end. Not thread-safe for one legaliser. */
bool mli_legalise_next(struct mli_legaliser *l, struct mli_descriptor *piece);

/** Returns the number of pieces of a plan, without making them. Thread-safe. */
uint64_t mli_legalise_count(const struct mli_plan *plan, const struct mli_channel_caps *caps);

/** The functions of an engine. Those marked "optional" may be null. */
struct mli_engine {
    size_t size; /**< sizeof(struct mli_engine) when the engine was compiled; the library treats
                    functions that were added later as null */
    const char *name; /**< one word of ASCII, without ":", "," and "="; static storage */

    /**
     * Looks for the hardware. Returns the number of channels (those from 16 on are not used); 0 if
     * there is no hardware.
     */
    uint32_t (*probe)(void);
    /**
     * Fills the capabilities of a channel; *caps is zeroed before. Any thread may call it for
     * channel 0 at any time.
     */
    void (*caps)(uint32_t channel, struct mli_channel_caps *caps);
    /** Begins a work item. Cannot refuse it: reports errors through done. */
    void (*submit)(uint32_t channel, struct mli_work *work);

    /**
     * Optional. Prepares a channel that joins the pool. Returns false if the channel is not
     * available.
     */
    bool (*open)(uint32_t channel);
    /** Optional. The channel has left the pool; no work item is on it. */
    void (*close)(uint32_t channel);
    /**
     * Required if caps have MLI_CHANNEL_POLLED: collects completed descriptors and gives new ones
     * to the channel. Completes at most `budget` descriptors and returns their number.
     */
    uint32_t (*poll)(uint32_t channel, uint32_t budget);
    /**
     * Optional. mli_work_cancelled() has become true for the work on the channel: stop that work as
     * soon as possible, then call its done with MLI_STATUS_CANCELLED, or with the status that it
     * reached before. The channel may no longer have that work, or may have the next one: stop only
     * a work item for which mli_work_cancelled() is true. Null if the engine itself checks often
     * enough.
     */
    void (*cancel)(uint32_t channel);
    /**
     * Optional. Returns when the channel is idle after its last done: when the hardware has
     * finished the accesses that follow done.
     */
    void (*synchronise)(uint32_t channel);
    /** Optional. Replaces counters of the pool by more exact values of the hardware. */
    void (*stats)(uint32_t channel, mli_mov_channel_stats *stats);
    /**
     * Optional. Sets an option of mli_mov_set_engine(): "name:key=value". `key` has `length` bytes
     * and no terminator. Returns false for an unknown key or a bad value. A length of 0 comes first
     * and resets all options to their defaults.
     */
    bool (*option)(const char *key, size_t length, uint64_t value);
};

/**
 * Adds an engine under its name, for mli_mov_set_engine(). Copies *engine.
 *
 * @retval MLI_STATUS_OK             added
 * @retval MLI_STATUS_ARGUMENT_ERROR null, a function missing, or a name that exists or is not a
 * word
 * @retval MLI_STATUS_NOT_ENGH_MEM   there are MLI_ENGINES_MAX engines already
 *
 * Not thread-safe: call it while the program has one thread.
 */
mli_status mli_mov_add_engine(const struct mli_engine *engine);

/**
 * Reads the capabilities of the channels of the engine behind the pool (those of channel 0 stand
 * for all), with the options given to mli_mov_set_engine(). The pool may be empty.
 *
 * Thread-safe, unless another thread chooses an engine.
 */
void mli_mov_engine_caps(struct mli_channel_caps *caps);

/** Engines that can be known at a time, those of the library included. */
#define MLI_ENGINES_MAX 8

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* MLI_ENGINE_H */
