/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data movement: copy, slice, concatenate, subsample, permute and pad, all in one move.
 * Implements spec "Data Movement" (data_movement.rst).
 *
 * The meaning of a move, for each source dimension d, in this order:
 *   1. pad        the source is extended by padding_pre[d] and padding_post[d] zero samples:
 *                 P[d] = shape[d] + padding_pre[d] + padding_post[d]
 *   2. crop       a window of size[d] samples begins at offset[d], counted in the padded source;
 *                 size[d] == 0 means P[d] - offset[d]
 *   3. subsample  every sub_sample_step[d]-th sample of it: n[d] = ceil(size[d] / step[d])
 *   4. permute    destination dimension i is source dimension perm_dim[i]
 *   5. place      written at dst_offset[i] with stride dst_mem_stride[i]; the destination's shape
 *                 becomes n[perm_dim[i]] + dst_offset[i]. A stride of 0 means the destination
 *                 tensor's own mem_stride[i]; if that is 0 too, stride[i + 1] * shape[i + 1] of the
 *                 destination, where stride[i + 1] is the stride in force, given or computed. The
 *                 innermost stride is then 1
 * A window that reaches over the edge of the tensor therefore reads zeros there and real
 * neighbours inside, which is what a convolution tile with a halo needs. Exactly the n[] elements
 * are written, not a byte between or beyond them.
 *
 * Thread safety: every function may be called from any thread; calls on one handle must not
 * overlap in time. The channel pool is shared by all threads and needs no lock of the caller's.
 */
#ifndef MLI_MOV_API_H
#define MLI_MOV_API_H

#include "mli_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** Channel numbers run from 0 to MLI_MOV_MAX_CHANNELS - 1. */
#define MLI_MOV_MAX_CHANNELS 16

/**
 * What a move does. `offset`, `size`, `sub_sample_step` and the paddings are indexed by source
 * dimension, `dst_offset`, `dst_mem_stride` and `perm_dim` by destination dimension. Fill it with
 * an mli_mov_cfg_* function: a zeroed structure is not neutral (step 0 is refused).
 */
typedef struct _mli_mov_cfg {
    uint32_t offset[MLI_MAX_RANK];          /**< first sample of the window, padded coordinates */
    uint32_t size[MLI_MAX_RANK];            /**< samples in the window; 0: up to the padded end */
    uint32_t sub_sample_step[MLI_MAX_RANK]; /**< 1: every sample */
    uint32_t dst_offset[MLI_MAX_RANK];      /**< first coordinate written in the destination */
    int32_t dst_mem_stride[MLI_MAX_RANK];   /**< in elements; 0: the destination tensor's own
                                                 non-zero mem_stride, else packed on top of
                                                 the next inner stride in force */
    uint8_t perm_dim[MLI_MAX_RANK];         /**< a permutation of 0 .. rank-1 */
    uint8_t padding_pre[MLI_MAX_RANK];      /**< zero samples before the source */
    uint8_t padding_post[MLI_MAX_RANK];     /**< zero samples after the source */
} mli_mov_cfg_t;
typedef mli_mov_cfg_t mli_mov_cfg;

/**
 * States that embARC MLI 2.0 keeps in its handles, for programs that use the names. Handles of this
 * library have no such field: mli_mov_get_status() returns the stage of a handle's transfer.
 */
typedef enum _mli_mov_state {
    MLI_MOV_STATE_INVALID = 0,
    MLI_MOV_STATE_OPEN,
    MLI_MOV_STATE_PREPARED,
    MLI_MOV_STATE_DMA_CONFIGURED,
    MLI_MOV_STATE_DMA_RUNNING,
    MLI_MOV_STATE_DONE,
    MLI_MOV_LARGE_ENUM = 0x02000000
} mli_mov_state;

/**
 * A claim on DMA channels together with the transfer prepared for them. The caller allocates it,
 * on the stack if it likes; what is inside is private. It may be copied as a value: the claim and
 * the state of what was started are the pool's, and the same for all copies, while what was
 * prepared is in the copy it was prepared with. A generation number tells copies of a released
 * handle from live ones.
 */
typedef struct _mli_mov_handle_t {
    uint32_t first;      /* private */
    uint32_t count;      /* private */
    uint32_t generation; /* private */
    uint32_t prepared;   /* private */
    uint64_t plan[112];  /* private */
} mli_mov_handle_t;

/**
 * Moves `src` to `dst` as `cfg` says and returns when the last byte is written.
 * Spec: "Synchronous Copy from Source Tensor to Destination Tensor".
 *
 * @param src  source; only read. Its capacity must cover the elements the window reads.
 * @param cfg  the move; only read.
 * @param dst  destination. In: `data` (memory and capacity of the caller's), optionally
 *             `mem_stride`, and for a per-axis source the three pointers of `el_params.sa`.
 *             Out: `rank`, `shape`, `mem_stride`, `el_type`, `el_params`. Entries of shape and
 *             mem_stride beyond the rank become 1 and 0.
 *             Per-axis parameters: all three pointers null shares the source's arrays; all three
 *             equal to the source's leaves them; memory of the caller's with capacities receives
 *             a copy that went through the same pad/crop/subsample/place as the axis (padded
 *             entries: scale 1, scale_frac_bits 0, zero_point 0). Sharing is refused where the
 *             axis is padded, cropped, subsampled or placed at an offset.
 *
 * Neither memory changes owner. A refused call changes nothing at all.
 *
 * @retval MLI_STATUS_OK                   the move is done
 * @retval MLI_STATUS_BAD_TENSOR           null tensor or data, rank 0 or > 4, a shape of 0, a
 *                                         stride < 0 (of dst, too, even where cfg overrides it),
 *                                         an unknown element type
 * @retval MLI_STATUS_NOT_SUPPORTED        element type FX_4
 * @retval MLI_STATUS_BAD_FUNC_CFG         null cfg, offset/size outside the padded source, step 0,
 *                                         perm_dim not a permutation, dst_mem_stride < 0
 * @retval MLI_STATUS_NOT_ENGH_MEM         capacity short of the last byte touched, or overflow
 * @retval MLI_STATUS_INCOMPATEBLE_TENSORS source and destination bytes overlap, or destination
 *                                         elements overlap one another (decided byte by byte;
 *                                         strides that interleave so often that a bounded search
 *                                         cannot tell count as overlapping)
 * @retval MLI_STATUS_SPEC_PARAM_MISMATCH  per-axis parameters: dim >= rank, arrays null, short or
 *                                         overlapping, pointer options mixed, sharing impossible
 * @retval MLI_STATUS_MISALIGNMENT_ERROR   strict profile only: an address off its element boundary
 * @retval MLI_STATUS_DMA_ERROR            a DMA channel failed under way: dst's fields are as they
 *                                         were, what is written of its data is unknown
 *
 * With an engine that is a device, a free channel moves what is not tiny; where none is free, and
 * inside a completion callback, the caller does. Never fails for want of a channel.
 *
 * Thread-safe for tensors no other thread writes.
 */
mli_status mli_mov_tensor_sync(const mli_tensor *src, const mli_mov_cfg_t *cfg, mli_tensor *dst);

/**
 * Computes what a move would produce, without reading or writing any data (extension).
 * `src->data` and `dst->data` pointers and capacities are not looked at.
 *
 * @param src  source: rank, shape, mem_stride, el_type, and `sa.dim` for a per-axis source
 * @param cfg  the move
 * @param dst  In: `mem_stride` as for a move (zero it for packed strides).
 *             Out: `rank`, `shape`, `mem_stride`, `el_type` and `data.capacity`, the bytes a
 *             destination needs at least. `data.mem` and `el_params` are left alone.
 * @return as mli_mov_tensor_sync(), except what concerns pointers and capacities:
 *         MLI_STATUS_NOT_ENGH_MEM says that a tensor would need a capacity above 32 bits.
 *
 * Thread-safe.
 */
mli_status mli_mov_layout(const mli_tensor *src, const mli_mov_cfg_t *cfg, mli_tensor *dst);

/**
 * Everything that mli_mov_tensor_sync() does but the move (extension): makes all checks and fills
 * in `dst`, its quantisation parameters included. Takes no channel, touches no data.
 *
 * @return as mli_mov_tensor_sync(), without MLI_STATUS_DMA_ERROR.
 *
 * Thread-safe for tensors no other thread writes.
 */
mli_status mli_mov_check(const mli_tensor *src, const mli_mov_cfg_t *cfg, mli_tensor *dst);

/*
 * Builders for mli_mov_cfg_t. Spec: "Helper Functions for Data Move Config Struct". Each sets the
 * named fields and makes all others neutral. Arrays have MLI_MAX_RANK readable entries; entries
 * beyond the source's rank may hold anything. The values are judged when the move is prepared.
 *
 * All return MLI_STATUS_OK, MLI_STATUS_BAD_FUNC_CFG (null cfg) or MLI_STATUS_ARGUMENT_ERROR (null
 * array), the latter two without touching *cfg. Thread-safe.
 */

/** The whole tensor as it is. */
mli_status mli_mov_cfg_for_copy(mli_mov_cfg_t *cfg);

/** The window [offsets, offsets + sizes) of the source. */
mli_status mli_mov_cfg_for_slice(mli_mov_cfg_t *cfg, const int *offsets, const int *sizes,
                                 const int *dst_mem_stride);

/** The whole source into a larger tensor at dst_offsets. */
mli_status mli_mov_cfg_for_concat(mli_mov_cfg_t *cfg, const int *dst_offsets,
                                  const int *dst_mem_stride);

/** Every sub_sample_step[d]-th sample along each dimension. */
mli_status mli_mov_cfg_for_subsample(mli_mov_cfg_t *cfg, const int *sub_sample_step,
                                     const int *dst_mem_stride);

/** Dimensions reordered: destination dimension i is source dimension perm_dim[i]. */
mli_status mli_mov_cfg_for_permute(mli_mov_cfg_t *cfg, const uint8_t *perm_dim);

/** Zero samples around H (top, bottom) and W (left, right) of a CHW tensor. */
mli_status mli_mov_cfg_for_padding2d_chw(mli_mov_cfg_t *cfg, uint8_t padleft, uint8_t padright,
                                         uint8_t padtop, uint8_t padbot, const int *dst_mem_stride);

/** Zero samples around H (top, bottom) and W (left, right) of an HWC tensor. */
mli_status mli_mov_cfg_for_padding2d_hwc(mli_mov_cfg_t *cfg, uint8_t padleft, uint8_t padright,
                                         uint8_t padtop, uint8_t padbot, const int *dst_mem_stride);

/** Every field. embARC 2.0 spells this with 11 parameters: see mli_compat_embarc.h. */
mli_status mli_mov_cfg_all(mli_mov_cfg_t *cfg, const int *offsets, const int *sizes,
                           const int *subsample_step, const int *dst_offsets,
                           const int *dst_mem_stride, const uint8_t *perm_dim,
                           const uint8_t *pad_pre, const uint8_t *pad_post)
    MLI_LINK_NAME(mli_abi_mov_cfg_all);

/*
 * Asynchronous moves: acquire -> prepare -> [registercallback] -> start -> isdone/wait -> release.
 * Spec: "Asynchronous Data Move Functions" and "DMA Resource Management".
 *
 *                 acquire            prepare            start           last byte written
 *      (no handle) ------> claimed ----------> prepared -----> running ------------------> done
 *                                     ^   prepare  |              ^          start           |
 *                                     +------------+              +--------------------------+
 *
 * A prepared transfer may be started again and again once it is done. release is legal in every
 * state but running. A call in the wrong state, or with a handle that was released or never
 * acquired, is refused with MLI_STATUS_ARGUMENT_ERROR and changes nothing.
 *
 * A callback may start its handle again. Meanwhile isdone, wait, cancel, synchronise and get_status
 * may be called from any thread; but for synchronise, which waits for the last, they then speak of
 * whichever transfer they meet, and where they meet the moment between prepare and start, of none.
 *
 * Where a transfer over several channels fails, the first error in the order of the destination's
 * rows is its status: parts behind it are stopped, parts before it go on to their end.
 */

/**
 * Gives channels [ch_offset, ch_offset + num_ch) to the library for its exclusive use, in place of
 * those it had. num_ch 0 takes all away. Before the first call the pool is empty: acquiring fails,
 * synchronous moves work. With the threads engine this is where threads are made and ended.
 *
 * @retval MLI_STATUS_OK             the pool has these channels, all free
 * @retval MLI_STATUS_ARGUMENT_ERROR a negative number, a channel that the engine does not have, a
 *                                   handle that is still out, another thread is changing the pool
 *                                   too, or the caller is a completion callback
 * @retval MLI_STATUS_NOT_ENGH_MEM   the system has no resources for a channel; the pool is as it
 *                                   was
 */
mli_status mli_mov_set_num_dma_ch(int ch_offset, int num_ch);

/**
 * Claims num_ch neighbouring channels, all or none, without ever waiting. One is the usual number.
 * A transfer is split over several, on rows and cache lines of the destination, so that each has
 * as many bytes to move; parts are never smaller than what is worth a channel.
 *
 * With num_ch 0 the handle has no channel, and the pool may be empty: mli_mov_start() moves the
 * data on the calling thread and calls the callback before it returns (inside another callback:
 * after that one has returned). These handles do not depend on mli_mov_set_num_dma_ch() and
 * mli_mov_set_engine(); 16 of them can be out at a time.
 *
 * @retval MLI_STATUS_OK             *h owns the channels until mli_mov_release_handle()
 * @retval MLI_STATUS_NOT_ENGH_MEM   no run of num_ch free channels, or with num_ch 0 16 such
 *                                   handles are out; *h is untouched
 * @retval MLI_STATUS_ARGUMENT_ERROR null h, num_ch < 0 or > MLI_MOV_MAX_CHANNELS; *h is untouched
 */
mli_status mli_mov_acquire_handle(int num_ch, mli_mov_handle_t *h)
    MLI_LINK_NAME(mli_abi_mov_acquire_handle);

/**
 * Gives the channels back and clears the registered callback; *h and every copy of it go stale.
 * Where the callback of the last transfer is still running, sleeps until it has returned, so that
 * the caller may free what the callback uses afterwards. Do not hold a lock that the callback
 * takes. Called from inside a callback, of this handle or of another one, it does not wait.
 *
 * @retval MLI_STATUS_OK             released
 * @retval MLI_STATUS_ARGUMENT_ERROR null, stale or never acquired, or its transfer is running,
 *                                   which it is again when the callback has restarted it
 */
mli_status mli_mov_release_handle(mli_mov_handle_t *h) MLI_LINK_NAME(mli_abi_mov_release_handle);

/**
 * Checks the arguments as mli_mov_tensor_sync() does, plans the transfer into *h and fills the
 * fields of `dst`, its per-axis parameters included. No tensor data is read or written. `src`,
 * `cfg` and `dst` may go away afterwards; the memory that src and dst point to may not.
 *
 * @return as mli_mov_tensor_sync(), and
 * @retval MLI_STATUS_ARGUMENT_ERROR h is null or stale, or its transfer is running
 */
mli_status mli_mov_prepare(mli_mov_handle_t *h, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                           mli_tensor *dst) MLI_LINK_NAME(mli_abi_mov_prepare);

/**
 * Registers the completion callback of this handle: cb(cookie) is called exactly once for each
 * start, also when the transfer fails or is cancelled, after mli_mov_isdone() has become true. When
 * mli_mov_wait() or mli_mov_release_handle() has returned, the callback has returned too; when
 * mli_mov_isdone() returns true, the callback may still be running.
 *
 * The callback runs on the thread that completes the transfer: one of the engine's; with the inline
 * engine and for tiny transfers the one inside mli_mov_start(); with a polled engine the one that
 * drives it; possibly the one inside mli_mov_cancel(). It may acquire, prepare and start transfers,
 * on this handle too, and release handles whose transfers are done, but not wait or synchronise. A
 * transfer that it starts may complete only after it has returned, so it cannot poll for that
 * either: release that handle in the callback of that transfer, or on another thread. A null cb
 * unregisters. Register before start.
 *
 * @retval MLI_STATUS_OK             registered until release
 * @retval MLI_STATUS_ARGUMENT_ERROR h is null or stale, or its transfer is running
 */
mli_status mli_mov_registercallback(mli_mov_handle_t *h, void (*cb)(int32_t), int32_t cookie)
    MLI_LINK_NAME(mli_abi_mov_registercallback);

/**
 * Starts the prepared transfer. `src`, `cfg` and `dst` are those given to mli_mov_prepare(); what
 * counts is what was prepared, they are not read again and may be null.
 *
 * @retval MLI_STATUS_OK             started; it may already be done
 * @retval MLI_STATUS_ARGUMENT_ERROR h is null, stale, not prepared, or already running
 */
mli_status mli_mov_start(mli_mov_handle_t *h, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                         mli_tensor *dst) MLI_LINK_NAME(mli_abi_mov_start);

/**
 * Returns true when the started transfer is done: its bytes are then visible to the caller. False
 * while it runs, and for every handle on which nothing was started, released ones included: that is
 * no error, in no debug mode. Only a null `h` is refused.
 */
bool mli_mov_isdone(mli_mov_handle_t *h) MLI_LINK_NAME(mli_abi_mov_isdone);

/**
 * Sleeps until the started transfer is done and its callback has returned. Returns the transfer's
 * status. The caller may then free the memory of the tensors and what the callback uses. Do not
 * hold a lock that the callback takes. Where the callback restarts the handle, the call returns
 * once the callback of the transfer that it met has returned; mli_mov_synchronise() follows the
 * restarts.
 *
 * @retval MLI_STATUS_OK             complete
 * @retval MLI_STATUS_CANCELLED      it was cancelled; what is written of the destination is unknown
 * @retval MLI_STATUS_DMA_ERROR      a channel failed; mli_mov_get_status() says where
 * @retval MLI_STATUS_ARGUMENT_ERROR h is null, stale or nothing was started on it, or the caller
 *                                   is a completion callback; never hangs for these
 */
mli_status mli_mov_wait(mli_mov_handle_t *h) MLI_LINK_NAME(mli_abi_mov_wait);

/*
 * Extensions: nothing below is in the spec or in embARC MLI.
 */

/**
 * mli_mov_acquire_handle() for the channels from `first` on, and no others: for whoever shares them
 * out himself.
 *
 * @retval MLI_STATUS_OK             *h owns the channels until mli_mov_release_handle()
 * @retval MLI_STATUS_NOT_ENGH_MEM   one of them is not free, or not in the pool; *h is untouched
 * @retval MLI_STATUS_ARGUMENT_ERROR null h, num_ch < 1, or not all of them are from 0 to
 *                                   MLI_MOV_MAX_CHANNELS - 1; *h is untouched
 */
mli_status mli_mov_acquire_handle_at(int first, int num_ch, mli_mov_handle_t *h);

/** For mli_mov_set_hints(): the destination's pages have not been touched through their mapping. */
#define MLI_MOV_FRESH_DST 1u

/**
 * Tells the library what is known of a handle's memory, so that its transfers take less time.
 * `hints` is 0 or MLI_MOV_FRESH_DST and replaces the hints given before. No hint changes a result.
 *
 * MLI_MOV_FRESH_DST is for a destination that was just mapped, from a file or without one. Where
 * threads of this process move the data, they map its pages by pieces before they write them
 * (madvise(MADV_POPULATE_WRITE), Linux 5.14) instead of by one page fault for each page. Only pages
 * that the transfer writes are mapped. It has no effect with devices and on other systems. On pages
 * that are mapped already it costs time: take the hint back before the transfer is started again.
 *
 * @retval MLI_STATUS_OK             set until the next call or until release
 * @retval MLI_STATUS_ARGUMENT_ERROR h is null or stale, its transfer is running, or `hints` has
 *                                   unknown bits
 */
mli_status mli_mov_set_hints(mli_mov_handle_t *h, uint32_t hints);

/** Where a handle's transfer is. */
typedef enum _mli_mov_stage {
    MLI_MOV_CLAIMED = 0, /**< nothing is prepared */
    MLI_MOV_PREPARED,    /**< prepared, not started since */
    MLI_MOV_RUNNING,     /**< started */
    MLI_MOV_DONE,        /**< over; `code` says how */
    MLI_MOV_STAGE_LARGE_ENUM = 0x02000000
} mli_mov_stage;

/** What mli_mov_get_status() tells. */
typedef struct _mli_mov_status_t {
    mli_mov_stage stage;
    mli_status code;      /**< MLI_STATUS_OK until the transfer is done, then its status */
    uint64_t bytes;       /**< written so far for sure; all of them when it is complete */
    uint64_t bytes_total; /**< of the prepared transfer */
    /* Where a failed or cancelled one stopped first, in the order of the destination's rows: */
    const void *address; /**< the row in the destination that was not written whole, or null where
                              the engine cannot tell */
    uint32_t channel;    /**< it is in this channel's part (MLI_MOV_MAX_CHANNELS or more: of a
                              handle without channels), */
    uint32_t descriptor; /**< in this descriptor of the part: 0 the copy, from 1 on zero fills, */
    uint64_t row;        /**< and this is its number there */
} mli_mov_status_t;

/**
 * Tells where a handle's transfer is, without waiting.
 *
 * @retval MLI_STATUS_OK             *status is filled
 * @retval MLI_STATUS_ARGUMENT_ERROR null, or h is stale; *status is untouched
 */
mli_status mli_mov_get_status(const mli_mov_handle_t *h, mli_mov_status_t *status);

/**
 * Asks for a started transfer to be given up. Returns at once: the transfer is done, with its
 * callback, a little later, with MLI_STATUS_CANCELLED or as it happened to end. A transfer that is
 * done already is left as it is.
 *
 * @retval MLI_STATUS_OK             asked, or it was done
 * @retval MLI_STATUS_ARGUMENT_ERROR h is null, stale or nothing was started on it
 */
mli_status mli_mov_cancel(mli_mov_handle_t *h);

/**
 * Sleeps until the handle is at rest: its transfer is done, its callback has returned, the
 * transfers that callbacks have started on the same handle are done too, and the channels no longer
 * touch memory. Unlike mli_mov_wait() it is also legal where nothing was started.
 *
 * @retval MLI_STATUS_OK             at rest (also where nothing was ever started)
 * @retval MLI_STATUS_ARGUMENT_ERROR h is null or stale, or the caller is a completion callback
 */
mli_status mli_mov_synchronise(mli_mov_handle_t *h);

/** What a channel has done since it joined the pool. */
typedef struct _mli_mov_channel_stats {
    uint64_t submitted; /**< transfers, or parts of such over several channels */
    uint64_t completed; /**< of them: done without an error */
    uint64_t failed;    /**< of them: ended by an error */
    uint64_t cancelled; /**< of them: stopped on demand, or because another part failed */
    uint64_t bytes;     /**< written by completed ones, and for sure by others */
    uint64_t rows;      /**< contiguous runs of bytes in completed ones */
    uint64_t busy_ns;   /**< spent moving; 0 where the build has no clock */
    uint64_t
        queue_high_water; /**< most descriptors (copies and fills) it had before it at a time */
} mli_mov_channel_stats;

/**
 * Reads the statistics of channel 0 .. MLI_MOV_MAX_CHANNELS - 1; zeros for one that was never in
 * the pool. submitted - completed - failed - cancelled transfers are under way.
 *
 * @retval MLI_STATUS_OK             *stats is filled
 * @retval MLI_STATUS_ARGUMENT_ERROR no such channel, or null stats
 *
 * Thread-safe, also while the channel works: the counters are of one moment.
 */
mli_status mli_mov_get_channel_stats(int channel, mli_mov_channel_stats *stats);

/**
 * Chooses the engine behind the pool: "NAME" or "NAME:OPTION[,OPTION]...", options as "key=number".
 *
 *   threads  (default on hosts) every channel is a thread that sleeps when idle
 *   inline   (default elsewhere) the thread that starts a transfer moves it: no threads at all
 *   fault    wraps another engine and makes its channels fail, as in "fault:threads,seed=7,fail=3":
 *            the word without '=' is the engine, options that fault does not know are passed on
 *
 * Every engine takes `tiny=BYTES`: transfers up to that size are moved by the thread that starts
 * them. docs/library.md lists the other options. Options not given have their default again; of
 * one that is given twice the last counts. Numbers are below 2^64, a specification has at most 127
 * characters.
 *
 * @retval MLI_STATUS_OK             the pool, which is empty, has this engine
 * @retval MLI_STATUS_ARGUMENT_ERROR null, no such engine or option, no device, or the pool is not
 *                                   empty (mli_mov_set_num_dma_ch(0, 0) empties it)
 */
mli_status mli_mov_set_engine(const char *spec);

/** Name of the engine behind the pool, without options. Static storage. */
const char *mli_mov_engine_name(void);

/** Name of the index-th engine there is, the default first; null behind the last. Static storage.
 */
const char *mli_mov_engine_at(int index);

/**
 * Drives the channels of an engine without interrupts, where completions are awaited by callback
 * alone (isdone, wait and synchronise do it for their own handle). Returns how many descriptors
 * were completed; always 0 with an engine that needs no such help. Any thread, also an interrupt.
 */
uint32_t mli_mov_poll(void);

/** Does the engine make progress only inside mli_mov_poll(), isdone, wait and synchronise? */
bool mli_mov_is_polled(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#ifdef MLI_EMBARC_COMPAT
#include "mli_compat_embarc.h"
#endif

#endif /* MLI_MOV_API_H */
