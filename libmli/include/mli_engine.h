/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a DMA driver implements, so that the channel pool of mli_mov_* can use it (extension).
 * docs/porting.md goes through it with a worked example, libmli/port/mock.
 *
 * Glossary
 *   engine      a DMA controller, or what plays its part. It has channels, numbered from 0.
 *   plan        one batch for one channel (mli_plan.h)
 *   work        a plan that was handed to a channel, until it is done
 *   legalise    to cut a box into pieces that a channel's registers can express
 *
 * To add an engine: fill a struct mli_engine, give it to mli_mov_add_engine().
 *
 * What the pool guarantees for one channel
 *   - it is opened before its first work and closed after its last;
 *   - it has at most one work at a time: submit comes after done of the one before, though possibly
 *     from inside that done, or from another thread before that done has returned. So a channel
 *     must have finished with a work before it calls done, and done is the last thing a poll does;
 *   - submit and poll of a channel are never called at the same time, but for such a submit;
 *   - poll may come to a channel without a work, and cancel may come at any time from any thread.
 * Calls for different channels come from different threads at the same time.
 */
#ifndef MLI_ENGINE_H
#define MLI_ENGINE_H

#include "mli_mov_api.h"
#include "mli_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** How a work ended. */
struct mli_work_end {
    mli_status status;   /**< MLI_STATUS_OK, MLI_STATUS_CANCELLED or MLI_STATUS_DMA_ERROR */
    uint32_t descriptor; /**< not OK: the descriptor it stopped in */
    uint64_t row;        /**< not OK: the first row of it that was not written whole */
    uint64_t bytes;      /**< written for sure; not OK: a count that may be short */
    uint64_t busy_ns;    /**< the channel was at work; 0 where there is no clock */
};

/** A plan on a channel. Whoever submits it owns it and keeps it in place until done is called. */
struct mli_work {
    const struct mli_plan *plan; /**< read only */
    /**
     * To be called exactly once for each submit, from any thread, possibly before submit returns,
     * when the last byte is written and the channel will touch neither memory nor work any more.
     */
    void (*done)(struct mli_work *work, const struct mli_work_end *end);
    void *engine;       /**< the engine's own from submit to done */
    size_t written;     /**< private: mli_work_progress() */
    uint32_t cancelled; /**< private: mli_work_cancelled() */
    uint32_t hints;     /**< private: mli_mov_set_hints() */
};

/** Should this work stop early? Cheap enough to be asked for each descriptor. Any thread. */
bool mli_work_cancelled(const struct mli_work *work);

/** Says that `bytes` bytes in all are written so far: for mli_mov_get_status(). */
void mli_work_progress(struct mli_work *work, size_t bytes);

/** The channel's works proceed only while poll is called; else they complete by themselves. */
#define MLI_CHANNEL_POLLED 1u
/** The processor does the work: a synchronous move is quicker without such a channel. */
#define MLI_CHANNEL_CPU 2u

/** What a channel can do. Zero is no limit but for `loops`. */
struct mli_channel_caps {
    uint32_t flags;
    uint32_t loops;   /**< loops around a run that one descriptor can express, 0 to MLI_MAX_RANK */
    size_t count_max; /**< iterations of one loop */
    size_t run_max;   /**< bytes of one run */
    size_t step_max;  /**< bytes of one step, on either side */
    size_t bytes_max; /**< bytes of one descriptor */
    size_t tiny;      /**< transfers of up to so many bytes are quicker without the channel: the
                           thread that starts them moves them */
};

/** One piece of a plan that a channel's registers can express. */
struct mli_descriptor {
    struct mli_copy_box box; /**< at most caps.loops loops. src null: zeros are written */
    size_t bytes;
    uint32_t index; /**< of the plan's descriptor it is a piece of */
    uint64_t row;   /**< first row it writes */
};

/** Cuts a plan into legal descriptors, one after the other. Plain data: may be copied. */
struct mli_legaliser {
    const struct mli_plan *plan;
    struct mli_channel_caps caps;
    struct mli_copy_box box;       /**< private: the descriptor being cut */
    uint32_t index;                /**< private */
    bool cutting;                  /**< private */
    bool blocks;                   /**< private: pieces of a transpose need not be whole rows */
    size_t at[MLI_MAX_RANK + 1];   /**< private: where the next piece begins; last: in the run */
    size_t take[MLI_MAX_RANK + 1]; /**< private: what a piece takes of each loop and of the run */
};

/** Begins at the plan's first descriptor. Limits in *caps are kept by value. */
void mli_legalise_init(struct mli_legaliser *l, const struct mli_plan *plan,
                       const struct mli_channel_caps *caps);

/** The next piece; false at the end. Not thread-safe on one legaliser. */
bool mli_legalise_next(struct mli_legaliser *l, struct mli_descriptor *piece);

/** How many pieces there are in all, without making them. Thread-safe. */
uint64_t mli_legalise_count(const struct mli_plan *plan, const struct mli_channel_caps *caps);

/**
 * The functions of an engine. Null where the comment says "optional".
 */
struct mli_engine {
    size_t size;      /**< sizeof(struct mli_engine) of the header it was compiled with: functions
                           that were added later are then taken for null */
    const char *name; /**< one word of ASCII, without ":", "," and "="; static storage */

    /** Looks for the hardware. Returns the number of channels (those from 16 on are not used), 0
        where there is none. */
    uint32_t (*probe)(void);
    /** What a channel can do; *caps is zeroed before. Of channel 0 asked at any time, by any
     * thread. */
    void (*caps)(uint32_t channel, struct mli_channel_caps *caps);
    /** Begins a work. It cannot be refused: what goes wrong is told to done. */
    void (*submit)(uint32_t channel, struct mli_work *work);

    /** Optional. Makes a channel ready, when it joins the pool. False: it cannot be had. */
    bool (*open)(uint32_t channel);
    /** Optional. The channel has left the pool; nothing is running on it. */
    void (*close)(uint32_t channel);
    /** Needed where caps say MLI_CHANNEL_POLLED: takes note of completed descriptors and feeds the
        channel new ones, `budget` of them at most. Returns how many completed. */
    uint32_t (*poll)(uint32_t channel, uint32_t budget);
    /** Optional. mli_work_cancelled() has become true of the work on the channel, if it still has
        one: stop it as soon as can be, then call its done with MLI_STATUS_CANCELLED, or as it
        happened to end. It may have none, or its next one already: only what mli_work_cancelled()
        names is to be stopped. Null where the engine asks often enough by itself. */
    void (*cancel)(uint32_t channel);
    /** Optional. Returns when the channel rests, after its last done: for what the hardware still
        does behind that. */
    void (*synchronise)(uint32_t channel);
    /** Optional. Corrects what the pool has counted by what the hardware knows better. */
    void (*stats)(uint32_t channel, mli_mov_channel_stats *stats);
    /** Optional. Sets an option of mli_mov_set_engine(): "name:key=value". `key` is `length` bytes,
        not terminated. False: there is no such key, or it does not take the value. A length of 0
        comes first: all options shall have their default again. */
    bool (*option)(const char *key, size_t length, uint64_t value);
};

/**
 * Makes an engine known under its name, for mli_mov_set_engine(). *engine is copied.
 *
 * @retval MLI_STATUS_OK             known
 * @retval MLI_STATUS_ARGUMENT_ERROR null, a function missing, or a name that is no word or taken
 * @retval MLI_STATUS_NOT_ENGH_MEM   there are MLI_ENGINES_MAX already
 *
 * Not thread-safe: call it while the program has one thread.
 */
mli_status mli_mov_add_engine(const struct mli_engine *engine);

/**
 * What channels of the engine behind the pool can do (channel 0 speaks for all), with the options
 * that mli_mov_set_engine() was given. The pool may be empty.
 *
 * Thread-safe, but not while another thread chooses an engine.
 */
void mli_mov_engine_caps(struct mli_channel_caps *caps);

/** Engines that can be known at a time, those of the library included. */
#define MLI_ENGINES_MAX 8

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* MLI_ENGINE_H */
