/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines: the functions of a DMA driver, which the channel pool of mli_mov_* calls (extension).
 * docs/porting.md explains them with a complete example, libmli/port/mock.
 *
 * To add an engine, start here: write the functions of a struct mli_engine (probe, caps and submit
 * at least), and call mli_mov_add_engine() at the start of the program, or add the engine to
 * libmli/port/ports.c, which mlid and mlictl link. Then mli_mov_set_engine() knows its name. The
 * library's own engines are in libmli/src/dma (dma.h).
 *
 * Glossary
 *   engine      a DMA controller, or code in the place of one. Its channels are numbered from 0.
 *   plan        the bytes that one channel moves (mli_plan.h)
 *   work item   a plan on a channel, from submit until done
 *   legalise    cut a plan into pieces
 *   piece       a part of a plan that one descriptor of a channel, or one call of
 *               mli_piece_move() by the processor, moves
 *
 * Contents: work items; capabilities of a channel; pieces; interrupts; caches and bus addresses;
 * the functions of an engine.
 *
 * Guarantees of the pool for one channel
 *   - It calls open before the first work item and close after the last.
 *   - The channel has at most one work item at a time. The pool submits the next work item after
 *     done of the previous one was called: possibly inside that done, or on another thread before
 *     done has returned. So a channel must not use a work item after it has called done, and done
 *     is the last action of a poll.
 *   - It never calls submit and poll of a channel concurrently, except for such a submit. Channels
 *     with MLI_CHANNEL_POLLED or MLI_CHANNEL_INTERRUPT have no exception: a submit for which
 *     another poll or submit must end first is made when that one has returned.
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
    uint32_t descriptor; /**< if not OK: the descriptor in which the work item stopped */
    /** If not OK: the first row of the descriptor that was not written completely. */
    uint64_t row;
    uint64_t bytes;   /**< lower bound of the bytes written; exact if the status is OK */
    uint64_t busy_ns; /**< time in which the channel worked; 0 without a clock */
};

/** A plan on a channel. The submitter owns it and keeps it in place until done is called. */
struct mli_work {
    const struct mli_plan *plan; /**< read only */
    /**
     * Call it exactly once for each submit, when the last byte is written and the channel will
     * access neither memory nor the work again. Any thread may call it, even before submit has
     * returned.
     */
    void (*done)(struct mli_work *work, const struct mli_work_end *end);
    void *engine;       /**< the engine may use it from submit to done */
    size_t written;     /**< private: mli_work_progress() */
    uint32_t cancelled; /**< private: set to the item's `number` to cancel the work */
    uint32_t hints;     /**< private: hints of mli_mov_set_hints(), and a flag of the library */
    uint32_t number; /**< private: distinguishes the work item from earlier ones of the channel */
    uint32_t cpu_pieces; /**< private: pieces that mli_piece_move() has moved */
    size_t cpu_bytes;    /**< private: bytes that mli_piece_move() has moved */
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
/**
 * The processor moves the channel's work items, so a synchronous move is faster without the
 * channel.
 */
#define MLI_CHANNEL_CPU 2u
/**
 * Interrupts complete the work items: their handler calls mli_mov_interrupt(), which calls poll.
 * Threads that wait sleep until then, unless the channel has MLI_CHANNEL_POLLED too.
 */
#define MLI_CHANNEL_INTERRUPT 4u
/** The rows that a descriptor reads must not overlap: source steps are at least as long as a run.
 */
#define MLI_CHANNEL_DISTINCT_ROWS 8u
/**
 * A descriptor need not have the innermost loops of a box. The legaliser then gives it the longest
 * loops, so that fewer descriptors are needed. The rows of such a piece are not consecutive in the
 * plan: call mli_piece_row() to find the row in which a channel stopped.
 */
#define MLI_CHANNEL_ANY_LOOPS 16u

/** Limits of one loop of a descriptor; 0: only the limit of all loops applies. */
struct mli_loop_caps {
    size_t count_max; /**< maximum number of iterations */
    size_t step_max;  /**< maximum number of bytes of one step, on either side */
};

/**
 * The capabilities of a channel. Zero means no limit and no demand, except for `loops`. If one of
 * the members from `granularity` to `piece_min` is set, the legaliser makes pieces with
 * MLI_PIECE_CPU, which the engine passes to mli_piece_move(). All alignments are powers of two.
 */
struct mli_channel_caps {
    uint32_t flags;
    uint32_t loops;   /**< number of loops around a run that one descriptor can express, 0 to
                         MLI_MAX_RANK */
    size_t count_max; /**< maximum number of iterations of one loop */
    size_t run_max;   /**< maximum number of bytes of one run */
    size_t step_max;  /**< maximum number of bytes of one step, on either side */
    size_t bytes_max; /**< maximum number of bytes of one descriptor */
    size_t tiny;      /**< up to this size a transfer is faster without the channel: the thread that
                         starts it moves it */
    size_t granularity; /**< runs, steps and addresses are multiples of this number of bytes */
    size_t src_align;   /**< alignment of each run in the source, if greater than `granularity` */
    size_t dst_align;   /**< alignment of each run in the destination, if greater than
                             `granularity` */
    size_t run_min;    /**< shorter runs are faster without the channel: the processor moves them */
    size_t piece_min;  /**< the processor moves a box if its descriptors would have fewer bytes than
                          this on average: as many as the processor moves while the device sets up
                          a descriptor */
    size_t piece_cpu;  /**< maximum number of bytes of a piece for the processor; 0:
                          MLI_PIECE_CPU_BYTES */
    size_t linear_max; /**< maximum number of bytes of a run in a descriptor without loops, if that
                          is more than `run_max` */
    /** Maximum number of bytes of a run of zeros, if that is less than `run_max`. */
    size_t fill_max;
    size_t gap_max; /**< maximum number of bytes, forwards or backwards, from the end of a run to
                       the next run of a loop, in source and destination; for devices whose
                       registers hold this gap instead of a step */
    struct mli_loop_caps loop[MLI_MAX_RANK]; /**< further limits of each loop, innermost first; with
                                                MLI_CHANNEL_ANY_LOOPS every loop must keep all */
    size_t reserved[4];                      /**< 0 */
};

/** Default of `piece_cpu`. The processors that drive devices move so many bytes in a few
 * microseconds. */
#define MLI_PIECE_CPU_BYTES 4096u

/**
 * The processor moves this piece, because the device cannot move it, or is not faster: pass the
 * piece to mli_piece_move().
 */
#define MLI_PIECE_CPU 1u

/** One piece of a plan. */
struct mli_descriptor {
    struct mli_copy_box box; /**< within the capabilities, unless MLI_PIECE_CPU is set; src null:
                                write zeros */
    size_t bytes;
    uint32_t index; /**< descriptor of the plan that the piece was cut from */
    uint64_t row;   /**< first row that the piece writes */
    uint32_t flags; /**< MLI_PIECE_CPU or 0 */
};

/** Cuts a plan into pieces, one at a time. Plain data: may be copied. */
struct mli_legaliser {
    const struct mli_plan *plan;
    struct mli_channel_caps caps;
    struct mli_copy_box box;       /**< private: the part of a descriptor that is being cut */
    uint32_t index;                /**< private */
    uint8_t part;                  /**< private: head, middle or tail: what `box` has of each run */
    bool cutting;                  /**< private */
    bool blocks;                   /**< private: pieces of a transpose need not be whole rows */
    bool demands;                  /**< private: some pieces may be for the processor */
    bool shared;                   /**< private: some pieces are for the processor */
    size_t at[MLI_MAX_RANK + 1];   /**< private: where the next piece starts: an iteration of each
                                      loop, then a byte of the run */
    size_t take[MLI_MAX_RANK + 1]; /**< private: iterations of each loop in a piece, then bytes */
};

/** Starts at the plan's first descriptor. Copies *caps. */
void mli_legalise_init(struct mli_legaliser *l, const struct mli_plan *plan,
                       const struct mli_channel_caps *caps) MLI_LINK_NAME(mli_abi1_legalise_init);

/**
 * Sets *piece to the next piece. Returns false if there is none. First come the pieces that the
 * device moves, in the order of their first rows, then those that the processor moves. Not
 * thread-safe for one legaliser.
 */
bool mli_legalise_next(struct mli_legaliser *l, struct mli_descriptor *piece)
    MLI_LINK_NAME(mli_abi1_legalise_next);

/**
 * Converts the number of a row: from `row`, counted in the order of the piece's loops, to the
 * number of the same row in the plan's descriptor. A channel that stopped after `row` rows of the
 * piece reports the result. Thread-safe.
 */
uint64_t mli_piece_row(const struct mli_plan *plan, const struct mli_descriptor *piece,
                       uint64_t row);

/** Counts of the pieces of a plan: see mli_legalise_pieces(). */
struct mli_piece_counts {
    uint64_t descriptors; /**< pieces that the device moves */
    uint64_t cpu_pieces;  /**< pieces that the processor moves */
    uint64_t cpu_bytes;   /**< bytes that the processor moves */
};

/** Counts the pieces of a plan, without making them. Thread-safe. */
void mli_legalise_pieces(const struct mli_plan *plan, const struct mli_channel_caps *caps,
                         struct mli_piece_counts *counts);

/** Returns the number of descriptors of a plan, without making them. Thread-safe. */
uint64_t mli_legalise_count(const struct mli_plan *plan, const struct mli_channel_caps *caps)
    MLI_LINK_NAME(mli_abi1_legalise_count);

/**
 * Moves a piece of the work on the calling processor, and counts it as moved by the processor.
 * Usually a piece with MLI_PIECE_CPU, which has at most caps.piece_cpu bytes, so that the call
 * takes bounded time; any other piece is also legal. Only one thread at a time may call it for a
 * work item. Cleans and invalidates the cache lines that it has written. If mli_mov_is_coherent()
 * returns false, no descriptor of the work may be with the device during the call.
 */
void mli_piece_move(struct mli_work *work, const struct mli_descriptor *piece);

/**
 * For a channel with MLI_CHANNEL_INTERRUPT: polls it, because it has raised an interrupt. No
 * interrupt is lost: if the interrupted code, or another processor, is inside poll or submit of the
 * channel, that code polls once more before it leaves. Therefore silence the interrupt before the
 * call, in a way that leaves its cause visible for poll: clear or mask it in the controller.
 * Callbacks of completed transfers run inside.
 *
 * May be called from interrupt handlers and any thread, at any time, for any channel number.
 */
void mli_mov_interrupt(uint32_t channel);

/**
 * Makes the library call poll once more. A driver calls this in submit and poll if the channel has
 * something to do that no interrupt will announce. Examples: the processor has to move the next
 * piece while the device is idle, or the driver has asked the device to stop. If the platform has
 * the function `pend`, poll is called in another interrupt; otherwise before submit or poll returns
 * to the program. No effect without MLI_CHANNEL_INTERRUPT, because such channels are polled anyway.
 */
void mli_channel_again(uint32_t channel);

/**
 * The platform's functions for caches, addresses and interrupts. The program sets them, or the
 * code of the board. A null function does nothing. They must be callable from wherever transfers
 * are started and polled, interrupt handlers included.
 */
struct mli_platform {
    size_t size; /**< sizeof(struct mli_platform) when the caller was compiled */
    size_t line; /**< bytes of a cache line, a power of two; 0: 64 */
    /** Writes lines of the cache back to memory, with a barrier after that. */
    void (*clean)(const void *address, size_t bytes);
    /** Writes lines of the cache back to memory and drops them. */
    void (*clean_invalidate)(const void *address, size_t bytes);
    /** Drops lines of the cache without writing them. */
    void (*invalidate)(const void *address, size_t bytes);
    /** Returns the address at which devices see the byte. Null: the processor's address. */
    uint64_t (*bus_address)(const void *address);
    /** Requests an interrupt that calls mli_mov_interrupt(channel): see mli_channel_again(). */
    void (*pend)(uint32_t channel);
};

/**
 * Replaces the platform's functions. Copies *platform; null: the default, a coherent platform with
 * the processor's addresses.
 *
 * @retval MLI_STATUS_OK             set
 * @retval MLI_STATUS_ARGUMENT_ERROR no size, a line that is not a power of two, or the pool is not
 *                                   empty
 */
mli_status mli_mov_set_platform(const struct mli_platform *platform);

/** Returns whether the platform needs no cache maintenance. Any thread. */
bool mli_mov_is_coherent(void);

/** Returns the address at which devices see a byte of memory. Any thread. */
uint64_t mli_bus_address(const void *address);

/**
 * Prepares the caches for a work item: cleans the source, and cleans and invalidates the
 * destination. Call it in submit, before the first descriptor can run. Does nothing on a coherent
 * platform.
 */
void mli_work_clean(const struct mli_work *work);

/**
 * Invalidates the destination of a work item in the caches. Call it once the device has written its
 * last byte, before the first piece that the processor moves, and before done; even if the work
 * failed. Does nothing on a coherent platform.
 */
void mli_work_invalidate(const struct mli_work *work);

/**
 * Clean cache lines of memory that the device reads, such as its descriptors; invalidate cache
 * lines of memory that the device has written.
 */
void mli_cache_clean(const void *address, size_t bytes);
void mli_cache_invalidate(const void *address, size_t bytes);

/** The functions of an engine. Functions marked "optional" may be null. */
struct mli_engine {
    size_t size; /**< sizeof(struct mli_engine) when the engine was compiled; the library treats
                    functions that were added later as null */
    const char *name; /**< one word of ASCII, without ":", "," and "="; static storage */

    /**
     * Looks for the hardware. Returns the number of channels (only the first 16 are used); 0 if
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
     * Required if caps have MLI_CHANNEL_POLLED or MLI_CHANNEL_INTERRUPT: collects completed
     * descriptors and gives new ones to the channel. Completes at most `budget` descriptors and
     * returns their number; a piece that the processor moves counts as one.
     */
    uint32_t (*poll)(uint32_t channel, uint32_t budget);
    /**
     * Optional. mli_work_cancelled() has become true for the work on the channel: stop that work as
     * soon as possible, then call its done with MLI_STATUS_CANCELLED, or with the status that it
     * reached before. The channel may no longer have that work, or may have the next one: stop only
     * a work item for which mli_work_cancelled() is true. Null if the engine itself checks often
     * enough; a channel with MLI_CHANNEL_INTERRUPT is polled after a cancel.
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
    /**
     * Optional. Makes memory known to the device before transfers use it, as an IOMMU or the import
     * of a dma-buf requires. May set memory->cookie. Returns 0, or the number of an error (errno.h)
     * if the device cannot use the memory. Any thread, at any time after probe.
     */
    int (*attach)(mli_mov_memory *memory);
    /** Optional. Ends attach: no transfer uses the memory, which stays mapped until the return. */
    void (*detach)(const mli_mov_memory *memory);
    /**
     * Optional. Sets an option whose value is not a number, as in "name:device=0000:00:04.0". Key
     * and value have no terminators. Returns false for an unknown key or a bad value.
     */
    bool (*option_text)(const char *key, size_t length, const char *value, size_t value_length);
    /**
     * Optional. Returns why the last probe found no hardware or the last open failed; "" if the
     * reason is not known. The text begins with the name of the engine, as in "vfio: no PCI device
     * 0000:00:04.0"; mli_last_error() shows it after the word "engine". Static storage.
     */
    const char *(*reason)(void);
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
void mli_mov_engine_caps(struct mli_channel_caps *caps) MLI_LINK_NAME(mli_abi1_mov_engine_caps);

/** Maximum number of engines, including the library's engines. */
#define MLI_ENGINES_MAX 8

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* MLI_ENGINE_H */
