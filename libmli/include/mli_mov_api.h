/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data movement: copy, slice, concatenate, subsample, permute and pad, all in one move.
 * Implements spec "Data Movement" (data_movement.rst).
 *
 * A move does this, for each source dimension d, in this order:
 *   1. pad        extend the source by padding_pre[d] and padding_post[d] zero samples:
 *                 P[d] = shape[d] + padding_pre[d] + padding_post[d]
 *   2. crop       take a window of size[d] samples that begins at offset[d] of the padded source;
 *                 size[d] == 0 means P[d] - offset[d]
 *   3. subsample  take every sub_sample_step[d]-th sample of it: n[d] = ceil(size[d] / step[d])
 *   4. permute    destination dimension i is source dimension perm_dim[i]
 *   5. place      write at dst_offset[i] with stride dst_mem_stride[i]; the destination's shape
 *                 becomes n[perm_dim[i]] + dst_offset[i]. A stride of 0 means the destination
 *                 tensor's own mem_stride[i]; if that is 0 too, stride[i + 1] * shape[i + 1] of the
 *                 destination, where stride[i + 1] is the stride in force, given or computed. The
 *                 innermost stride is then 1
 * A window that extends beyond the edge of the tensor therefore reads zeros outside and real
 * neighbours inside, as a convolution tile with a halo needs. A move writes exactly the n[]
 * elements, and no byte between or beyond them.
 *
 * Contents: synchronous moves; builders of configurations; asynchronous moves and the channel pool;
 * extensions (hints, status, cancel, statistics, engines).
 *
 * Thread safety: every function may be called from any thread; calls on one handle must not
 * overlap in time. All threads share the channel pool and need no lock for it. The child of a
 * fork() may use its copies of the pool and of the handles; transfers that run during the fork are
 * done there, with MLI_STATUS_DMA_ERROR and without a callback.
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
 * The configuration of a move. `offset`, `size`, `sub_sample_step` and the paddings are indexed by
 * source dimension; `dst_offset`, `dst_mem_stride` and `perm_dim` by destination dimension. Fill it
 * with an mli_mov_cfg_* function: a zeroed structure is not neutral, because step 0 is refused.
 */
typedef struct _mli_mov_cfg {
    uint32_t offset[MLI_MAX_RANK]; /**< first sample of the window, in padded coordinates */
    uint32_t size[MLI_MAX_RANK];   /**< samples in the window; 0: to the end of the padded source */
    uint32_t sub_sample_step[MLI_MAX_RANK]; /**< n: move every n-th sample */
    uint32_t dst_offset[MLI_MAX_RANK];      /**< first coordinate written in the destination */
    int32_t dst_mem_stride[MLI_MAX_RANK];   /**< strides in elements; 0: the mem_stride of the
                                               destination tensor; if it is 0 too, packed: the next
                                               inner stride times its extent */
    uint8_t perm_dim[MLI_MAX_RANK];         /**< a permutation of 0 .. rank-1 */
    uint8_t padding_pre[MLI_MAX_RANK];      /**< zero samples before the source */
    uint8_t padding_post[MLI_MAX_RANK];     /**< zero samples after the source */
} mli_mov_cfg_t;
typedef mli_mov_cfg_t mli_mov_cfg;

/**
 * States that embARC MLI 2.0 keeps in its handles, for programs that use the names. Handles of this
 * library have no field for the state: mli_mov_get_status() returns the stage of a handle's
 * transfer.
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
 * A claim on DMA channels and the transfer that is prepared for them. The caller allocates it, for
 * example on the stack; the fields are private. A handle may be copied as a value: the claim and
 * the state of a started transfer belong to the pool and are shared by all copies, but a
 * prepared transfer is only in the copy it was prepared with. A generation number distinguishes
 * copies of a released handle from live ones.
 */
typedef struct _mli_mov_handle_t {
    uint32_t first;      /* private */
    uint32_t count;      /* private */
    uint32_t generation; /* private */
    uint32_t prepared;   /* private */
    uint64_t plan[112];  /* private */
} mli_mov_handle_t;

/**
 * Moves `src` to `dst` as `cfg` says. Returns when the last byte is written.
 * Spec: "Synchronous Copy from Source Tensor to Destination Tensor".
 *
 * @param src  source; only read. Its capacity must cover the elements that the window reads.
 * @param cfg  the move; only read.
 * @param dst  destination. In: `data` (memory of the caller, and its capacity), optionally
 *             `mem_stride`, and for a per-axis source the three pointers of `el_params.sa`.
 *             Out: `rank`, `shape`, `mem_stride`, `el_type`, `el_params`. Beyond the rank, entries
 *             of shape become 1 and entries of mem_stride become 0. mem_stride is also 0 for an
 *             extent of 1 whose packed stride exceeds 31 bits.
 *             Per-axis parameters: if all three pointers are null, dst shares the source's arrays;
 *             if all three are the source's pointers, they stay; if they point to memory of the
 *             caller, with capacities, the arrays receive a copy that is padded, cropped,
 *             subsampled and placed like the axis (padded entries: scale 1, scale_frac_bits 0,
 *             zero_point 0). Sharing is refused if the axis is padded, cropped, subsampled or
 *             placed at an offset. The move must not write a byte of the source's arrays, nor
 *             read or write a byte of dst's own arrays as data; this is decided byte by byte, so
 *             arrays may be between the rows of the data.
 *
 * The caller keeps both memories. A refused call changes nothing.
 *
 * @retval MLI_STATUS_OK                   the move is done
 * @retval MLI_STATUS_BAD_TENSOR           null tensor or data, rank 0 or > 4, a shape of 0, a
 *                                         stride < 0 (also of dst, even if cfg overrides it), an
 *                                         unknown element type
 * @retval MLI_STATUS_NOT_SUPPORTED        element type FX_4
 * @retval MLI_STATUS_BAD_FUNC_CFG         null cfg, offset/size outside the padded source, step 0,
 *                                         perm_dim not a permutation, dst_mem_stride < 0
 * @retval MLI_STATUS_NOT_ENGH_MEM         a capacity or the address space ends before the last byte
 *                                         that the move reads or writes, or overflow
 * @retval MLI_STATUS_INCOMPATEBLE_TENSORS source and destination bytes overlap, or destination
 *                                         elements overlap one another (decided byte by byte;
 *                                         strides that interleave so often that the bounded search
 *                                         ends without a result count as overlapping)
 * @retval MLI_STATUS_SPEC_PARAM_MISMATCH  per-axis parameters: dim >= rank, arrays null, short or
 *                                         overlapping, pointer options mixed, sharing impossible
 * @retval MLI_STATUS_MISALIGNMENT_ERROR   strict profile only: an address that is not aligned to
 *                                         its element
 * @retval MLI_STATUS_DMA_ERROR            a DMA channel failed during the move: the fields of dst
 *                                         are unchanged, its data may be partly written
 *
 * If the engine is a device, a free channel moves what is larger than `tiny`. If no channel is
 * free, and inside a completion callback, the caller's thread moves the data. The function never
 * fails because no channel is free.
 *
 * Thread-safe for tensors that no other thread writes.
 */
mli_status mli_mov_tensor_sync(const mli_tensor *src, const mli_mov_cfg_t *cfg, mli_tensor *dst);

/**
 * Computes the result of a move without reading or writing any data (extension). The function does
 * not use the `data` pointers and capacities of `src` and `dst`.
 *
 * @param src  source: rank, shape, mem_stride, el_type, and `sa.dim` for a per-axis source
 * @param cfg  the move
 * @param dst  In: `mem_stride` as for a move (zero it for packed strides).
 *             Out: `rank`, `shape`, `mem_stride`, `el_type` and `data.capacity`: the bytes that a
 *             destination needs at least. `data.mem` and `el_params` stay as they are.
 * @return as mli_mov_tensor_sync(), without the checks of pointers and capacities:
 *         MLI_STATUS_NOT_ENGH_MEM means that a tensor would need a capacity above 32 bits.
 *
 * Thread-safe.
 */
mli_status mli_mov_layout(const mli_tensor *src, const mli_mov_cfg_t *cfg, mli_tensor *dst);

/**
 * Checks a move as mli_mov_tensor_sync() does and fills in `dst`, its quantisation parameters
 * included, but does not move (extension). Takes no channel, reads and writes no data.
 *
 * @return as mli_mov_tensor_sync(), without MLI_STATUS_DMA_ERROR.
 *
 * Thread-safe for tensors that no other thread writes.
 */
mli_status mli_mov_check(const mli_tensor *src, const mli_mov_cfg_t *cfg, mli_tensor *dst);

/*
 * Builders for mli_mov_cfg_t. Spec: "Helper Functions for Data Move Config Struct". Each builder
 * sets the named fields and makes all others neutral. Arrays have MLI_MAX_RANK readable entries;
 * entries beyond the source's rank may have any value. Preparing the move checks the values.
 *
 * All return MLI_STATUS_OK, MLI_STATUS_BAD_FUNC_CFG (null cfg) or MLI_STATUS_ARGUMENT_ERROR (null
 * array); the two errors leave *cfg unchanged. Thread-safe.
 */

/** Copies the whole tensor. */
mli_status mli_mov_cfg_for_copy(mli_mov_cfg_t *cfg);

/** Copies the window [offsets, offsets + sizes) of the source. */
mli_status mli_mov_cfg_for_slice(mli_mov_cfg_t *cfg, const int *offsets, const int *sizes,
                                 const int *dst_mem_stride);

/** Copies the whole source into a larger tensor at dst_offsets. */
mli_status mli_mov_cfg_for_concat(mli_mov_cfg_t *cfg, const int *dst_offsets,
                                  const int *dst_mem_stride);

/** Copies every sub_sample_step[d]-th sample along each dimension. */
mli_status mli_mov_cfg_for_subsample(mli_mov_cfg_t *cfg, const int *sub_sample_step,
                                     const int *dst_mem_stride);

/** Reorders dimensions: destination dimension i is source dimension perm_dim[i]. */
mli_status mli_mov_cfg_for_permute(mli_mov_cfg_t *cfg, const uint8_t *perm_dim);

/** Adds zero samples around H (top, bottom) and W (left, right) of a CHW tensor. */
mli_status mli_mov_cfg_for_padding2d_chw(mli_mov_cfg_t *cfg, uint8_t padleft, uint8_t padright,
                                         uint8_t padtop, uint8_t padbot, const int *dst_mem_stride);

/** Adds zero samples around H (top, bottom) and W (left, right) of an HWC tensor. */
mli_status mli_mov_cfg_for_padding2d_hwc(mli_mov_cfg_t *cfg, uint8_t padleft, uint8_t padright,
                                         uint8_t padtop, uint8_t padbot, const int *dst_mem_stride);

/** Sets every field. embARC 2.0 has this function with 11 parameters: see mli_compat_embarc.h. */
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
 * A prepared transfer may be started any number of times, each time after it is done. release is
 * legal in every state but running. A call in the wrong state, or with a handle that was released
 * or never acquired, is refused with MLI_STATUS_ARGUMENT_ERROR and changes nothing.
 *
 * A callback may start its handle again. Any thread may meanwhile call isdone, wait, cancel,
 * synchronise and get_status. synchronise waits for the last transfer of such a chain. The others
 * act on the transfer that they find; between prepare and start they find none.
 *
 * If a transfer over several channels fails, its status is the first error in the order of the
 * destination's rows: the library stops the parts after it, and completes the parts before it.
 */

/**
 * Gives channels [ch_offset, ch_offset + num_ch) to the library for its exclusive use, and takes
 * the channels that it had before. num_ch 0 takes all away. Before the first call the pool is
 * empty: acquiring fails, synchronous moves work. The threads engine creates and joins its threads
 * here.
 *
 * @retval MLI_STATUS_OK             the pool has these channels, all free
 * @retval MLI_STATUS_ARGUMENT_ERROR a negative number, a channel that the engine does not have, a
 *                                   handle that is not released, another thread that is changing
 *                                   the pool, or a call from a completion callback
 * @retval MLI_STATUS_NOT_ENGH_MEM   the system has no resources for a channel; the pool is as it
 *                                   was
 */
mli_status mli_mov_set_num_dma_ch(int ch_offset, int num_ch);

/**
 * Claims num_ch neighbouring channels, all or none. Never waits. Most programs claim one.
 * A transfer is split over several channels, at rows and cache lines of the destination, so that
 * all have about equal numbers of bytes; no part is smaller than the engine's `tiny`.
 *
 * With num_ch 0 the handle has no channel, and the pool may be empty: mli_mov_start() moves the
 * data on the calling thread and calls the callback before it returns (inside another callback:
 * after that one has returned). These handles do not depend on mli_mov_set_num_dma_ch() and
 * mli_mov_set_engine(); at most 16 of them can exist at a time.
 *
 * @retval MLI_STATUS_OK             *h owns the channels until mli_mov_release_handle()
 * @retval MLI_STATUS_NOT_ENGH_MEM   no num_ch neighbouring channels are free, or with num_ch 0 16
 *                                   such handles exist; *h is unchanged
 * @retval MLI_STATUS_ARGUMENT_ERROR null h, num_ch < 0 or > MLI_MOV_MAX_CHANNELS; *h is unchanged
 */
mli_status mli_mov_acquire_handle(int num_ch, mli_mov_handle_t *h)
    MLI_LINK_NAME(mli_abi_mov_acquire_handle);

/**
 * Gives the channels back and unregisters the callback; *h and every copy of it become stale.
 * If the callback of the last transfer is still running, sleeps until it has returned, so that the
 * caller may then free what the callback uses. Do not hold a lock that the callback takes. A call
 * from inside a callback, of this handle or another, does not wait.
 *
 * @retval MLI_STATUS_OK             released
 * @retval MLI_STATUS_ARGUMENT_ERROR h is null, stale or never acquired, or its transfer is running,
 *                                   possibly because the callback has restarted it
 */
mli_status mli_mov_release_handle(mli_mov_handle_t *h) MLI_LINK_NAME(mli_abi_mov_release_handle);

/**
 * Checks the arguments as mli_mov_tensor_sync() does, plans the transfer into *h and fills the
 * fields of `dst`, its per-axis parameters included. Reads and writes no tensor data. `src`, `cfg`
 * and `dst` may be freed afterwards; the memory that src and dst point to must stay.
 *
 * @return as mli_mov_tensor_sync(), and
 * @retval MLI_STATUS_ARGUMENT_ERROR h is null or stale, or its transfer is running
 */
mli_status mli_mov_prepare(mli_mov_handle_t *h, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                           mli_tensor *dst) MLI_LINK_NAME(mli_abi_mov_prepare);

/**
 * Registers the completion callback of this handle: cb(cookie) is called exactly once for each
 * start, even if the transfer fails or is cancelled, after mli_mov_isdone() has become true. When
 * mli_mov_wait() or mli_mov_release_handle() has returned, the callback has returned too; when
 * mli_mov_isdone() returns true, the callback may still be running.
 *
 * The callback runs on the thread that completes the transfer: a thread of the engine; with the
 * inline engine and for tiny transfers the thread inside mli_mov_start(); with a polled engine the
 * thread that polls; possibly the thread inside mli_mov_cancel(). It may acquire, prepare and start
 * transfers, on this handle too, and release handles of transfers that are done. It must not wait
 * or synchronise, nor poll for a transfer that it starts: that transfer may complete only after the
 * callback has returned. Release the handle of such a transfer in the transfer's own callback, or
 * on another thread. A null cb unregisters. Register before start.
 *
 * @retval MLI_STATUS_OK             registered until release
 * @retval MLI_STATUS_ARGUMENT_ERROR h is null or stale, or its transfer is running
 */
mli_status mli_mov_registercallback(mli_mov_handle_t *h, void (*cb)(int32_t), int32_t cookie)
    MLI_LINK_NAME(mli_abi_mov_registercallback);

/**
 * Starts the prepared transfer. `src`, `cfg` and `dst` are the arguments of mli_mov_prepare();
 * the function does not read them, and they may be null.
 *
 * @retval MLI_STATUS_OK             started; it may already be done
 * @retval MLI_STATUS_ARGUMENT_ERROR h is null, stale, not prepared, or already running
 */
mli_status mli_mov_start(mli_mov_handle_t *h, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                         mli_tensor *dst) MLI_LINK_NAME(mli_abi_mov_start);

/**
 * Returns true if the started transfer is done: its bytes are then visible to the caller. Returns
 * false while the transfer runs, and for every handle without a started transfer, released ones
 * included; these handles are not an error in any debug mode. Only a null `h` is refused.
 */
bool mli_mov_isdone(mli_mov_handle_t *h) MLI_LINK_NAME(mli_abi_mov_isdone);

/**
 * Sleeps until the started transfer is done and its callback has returned. Returns the transfer's
 * status. The caller may then free the memory of the tensors and what the callback uses. Do not
 * hold a lock that the callback takes. If the callback restarts the handle, the call returns when
 * the callback of the first transfer has returned; mli_mov_synchronise() waits for the restarted
 * transfers too.
 *
 * @retval MLI_STATUS_OK             complete
 * @retval MLI_STATUS_CANCELLED      it was cancelled; the destination may be partly written
 * @retval MLI_STATUS_DMA_ERROR      a channel failed; mli_mov_get_status() returns the place
 * @retval MLI_STATUS_ARGUMENT_ERROR h is null or stale, no transfer was started on it, or the
 *                                   caller is a completion callback; these never hang
 */
mli_status mli_mov_wait(mli_mov_handle_t *h) MLI_LINK_NAME(mli_abi_mov_wait);

/*
 * Extensions: the functions below are neither in the spec nor in embARC MLI.
 */

/**
 * Claims the channels [first, first + num_ch), and no others, as mli_mov_acquire_handle() does. It
 * is for programs that assign the channels themselves.
 *
 * @retval MLI_STATUS_OK             *h owns the channels until mli_mov_release_handle()
 * @retval MLI_STATUS_NOT_ENGH_MEM   a channel is not free, or not in the pool; *h is unchanged
 * @retval MLI_STATUS_ARGUMENT_ERROR null h, num_ch < 1, or channels outside 0 ..
 *                                   MLI_MOV_MAX_CHANNELS - 1; *h is unchanged
 */
mli_status mli_mov_acquire_handle_at(int first, int num_ch, mli_mov_handle_t *h);

/** For mli_mov_set_hints(): no page of the destination was accessed through this mapping yet. */
#define MLI_MOV_FRESH_DST 1u
/** For mli_mov_set_hints(): an access to the tensors may wait, as for a disk or a file server. */
#define MLI_MOV_SLOW_MEMORY 2u

/**
 * Sets hints about the memory of a handle's transfers. `hints` is 0 or a combination of
 * MLI_MOV_FRESH_DST and MLI_MOV_SLOW_MEMORY, and replaces earlier hints. No hint changes a result.
 *
 * MLI_MOV_FRESH_DST is for a destination that was just mapped, with or without a file. If threads
 * of this process move the data, they map many pages of it by one call before they write them
 * (madvise(MADV_POPULATE_WRITE), Linux 5.14), instead of by one page fault for each page. They map
 * only pages that the transfer writes. The hint has no effect with devices and on other systems. It
 * costs time if the pages are mapped already: clear it before you start the transfer again.
 *
 * With MLI_MOV_SLOW_MEMORY mli_mov_start() never moves the data itself, however small the transfer
 * is, but leaves it to the handle's channels. So the calling thread does not wait for the memory.
 * No effect with the inline engine and on a handle without channels.
 *
 * @retval MLI_STATUS_OK             set until the next call or until release
 * @retval MLI_STATUS_ARGUMENT_ERROR h is null or stale, its transfer is running, or `hints` has
 *                                   unknown bits
 */
mli_status mli_mov_set_hints(mli_mov_handle_t *h, uint32_t hints);

/** The stage of a handle's transfer. */
typedef enum _mli_mov_stage {
    MLI_MOV_CLAIMED = 0, /**< no transfer is prepared */
    MLI_MOV_PREPARED,    /**< prepared, not started since */
    MLI_MOV_RUNNING,     /**< started, not done yet */
    MLI_MOV_DONE,        /**< the move is done; `code` is the status of the move */
    MLI_MOV_STAGE_LARGE_ENUM = 0x02000000
} mli_mov_stage;

/** The status of a handle's transfer: see mli_mov_get_status(). */
typedef struct _mli_mov_status_t {
    mli_mov_stage stage;
    mli_status code;      /**< MLI_STATUS_OK until the transfer is done, then its status */
    uint64_t bytes;       /**< bytes written for certain; all of them if the transfer is complete */
    uint64_t bytes_total; /**< bytes of the prepared transfer */
    /*
     * The first place, in the order of the destination's rows, at which a failed or cancelled
     * transfer stopped:
     */
    const void *address; /**< first byte of the row in the destination that was not written
                            completely; null if the engine cannot tell the row */
    uint32_t channel; /**< channel whose part has the row; MLI_MOV_MAX_CHANNELS or more for a handle
                         without channels */
    uint32_t descriptor; /**< descriptor of that part: 0 is the copy, 1 and up are zero fills */
    uint64_t row;        /**< number of the row in that descriptor */
} mli_mov_status_t;

/**
 * Reads the status of a handle's transfer. Never waits.
 *
 * @retval MLI_STATUS_OK             *status is filled
 * @retval MLI_STATUS_ARGUMENT_ERROR null, or h is stale; *status is unchanged
 */
mli_status mli_mov_get_status(const mli_mov_handle_t *h, mli_mov_status_t *status);

/**
 * Requests that a started transfer stop early. Returns at once: the transfer becomes done a little
 * later, with its callback, and with MLI_STATUS_CANCELLED or its own status. Does nothing if the
 * transfer is done already.
 *
 * @retval MLI_STATUS_OK             requested, or the transfer was done
 * @retval MLI_STATUS_ARGUMENT_ERROR h is null or stale, or no transfer was started on it
 */
mli_status mli_mov_cancel(mli_mov_handle_t *h);

/**
 * Sleeps until the handle is idle: its transfer is done, its callback has returned, the transfers
 * that callbacks have started on this handle are done too, and the channels no longer access
 * memory. Unlike mli_mov_wait() it is also legal if no transfer was started.
 *
 * @retval MLI_STATUS_OK             idle (even if no transfer was ever started)
 * @retval MLI_STATUS_ARGUMENT_ERROR h is null or stale, or the caller is a completion callback
 */
mli_status mli_mov_synchronise(mli_mov_handle_t *h);

/** Counters of a channel since it joined the pool. */
typedef struct _mli_mov_channel_stats {
    uint64_t submitted; /**< work items: transfers, or parts of a transfer over several channels */
    uint64_t completed; /**< work items that ended without an error */
    uint64_t failed;    /**< work items that ended with an error */
    uint64_t cancelled; /**< work items that were cancelled, by a call or because another part
                           failed */
    uint64_t bytes;   /**< bytes of completed work items, and bytes that other work items certainly
                         wrote */
    uint64_t rows;    /**< contiguous runs of bytes in completed work items */
    uint64_t busy_ns; /**< time spent moving; 0 if the build has no clock */
    uint64_t queue_high_water; /**< maximum number of descriptors queued at a time */
    uint64_t cpu_pieces;       /**< pieces of these work items that the processor moved, because the
                                  device could not or was not faster */
    uint64_t cpu_bytes;        /**< bytes of these pieces */
} mli_mov_channel_stats;

/**
 * Reads the statistics of channel 0 .. MLI_MOV_MAX_CHANNELS - 1; zeros for a channel that was never
 * in the pool. submitted - completed - failed - cancelled is the number of work items in progress.
 *
 * @retval MLI_STATUS_OK             *stats is filled
 * @retval MLI_STATUS_ARGUMENT_ERROR no such channel, or null stats
 *
 * Thread-safe, even while the channel works: all counters are of one moment.
 */
mli_status mli_mov_get_channel_stats(int channel, mli_mov_channel_stats *stats)
    MLI_LINK_NAME(mli_abi1_mov_get_channel_stats);

/**
 * Chooses the engine behind the pool: "NAME" or "NAME:OPTION[,OPTION]...", options as "key=value".
 *
 *   threads  (default on hosts) every channel is a thread that sleeps when idle
 *   inline   (default elsewhere) the thread that starts a transfer also moves the data: no threads
 *   fault    wraps another engine and makes its channels fail, as in "fault:threads,seed=7,fail=3":
 *            the word without '=' is the engine; options that fault does not know go to that engine
 *
 * Every engine takes `tiny=BYTES`: up to that size, the thread that starts a transfer also moves
 * the data. docs/library.md lists all options. Options that are not given get their defaults; if an
 * option is given twice, the last one counts. Numbers are below 2^64. A specification has at most
 * 127 characters.
 *
 * @retval MLI_STATUS_OK             the pool, which is empty, has this engine
 * @retval MLI_STATUS_ARGUMENT_ERROR null, an unknown engine or option, no device, or the pool is
 * not empty (mli_mov_set_num_dma_ch(0, 0) empties it)
 */
mli_status mli_mov_set_engine(const char *spec);

/** Returns the name of the engine behind the pool, without options. Static storage. */
const char *mli_mov_engine_name(void);

/**
 * Returns the name of the index-th known engine; 0 is the default. Null past the last engine.
 * Static storage.
 */
const char *mli_mov_engine_at(int index);

/** For mli_mov_memory.flags: transfers write the memory. */
#define MLI_MOV_MEMORY_WRITE 1u
/** For mli_mov_memory.flags: `fd` is a dma-buf, which a device may import. */
#define MLI_MOV_MEMORY_DMA_BUF 2u

/** Memory for mli_mov_attach_memory(). */
typedef struct _mli_mov_memory {
    void *address;      /**< first byte */
    uint64_t size;      /**< bytes, at least 1 */
    int32_t fd;         /**< descriptor of the file or dma-buf that is mapped there; -1: none */
    uint32_t flags;     /**< a sum of MLI_MOV_MEMORY_* */
    uint64_t fd_offset; /**< offset of the first byte in that file */
    uint64_t cookie;    /**< private: for the engine's use */
    const void *engine; /**< private */
} mli_mov_memory;

/**
 * Makes memory known to the engine's device, before transfers use it: for engines with an IOMMU, or
 * with memory of another device. Most engines need no such call; the function then does nothing.
 * Call it after mli_mov_set_engine(). The descriptor may be closed afterwards.
 *
 * @retval MLI_STATUS_OK             attached until mli_mov_detach_memory()
 * @retval MLI_STATUS_ARGUMENT_ERROR null, an address of null, a size of 0 or beyond the end of the
 *                                   address space, unknown flags
 * @retval MLI_STATUS_NOT_ENGH_MEM   the device cannot use the memory; mli_last_error() has the
 *                                   number of the engine's error
 *
 * Thread-safe, unless another thread chooses an engine.
 */
mli_status mli_mov_attach_memory(mli_mov_memory *memory);

/**
 * Ends mli_mov_attach_memory(). Call it before the memory is unmapped or freed, when all transfers
 * that use it are done and synchronised (mli_mov_wait() suffices for engines that have finished
 * all accesses then). Accepts null and memory that is not attached. Thread-safe.
 */
void mli_mov_detach_memory(mli_mov_memory *memory);

/**
 * Polls all channels of an engine that is polled or works by interrupts. Programs that use a polled
 * engine and wait for completions by callback alone call it regularly; isdone, wait and synchronise
 * poll for their own handle. With interrupts, only a channel that a cancel could not stop needs
 * this call. Returns the number of completed descriptors; always 0 with other engines. May be
 * called from any thread, and from an interrupt handler.
 */
uint32_t mli_mov_poll(void);

/**
 * Returns whether the engine makes progress only inside mli_mov_poll(), isdone, wait and
 * synchronise.
 */
bool mli_mov_is_polled(void);

/*
 * Functions of this header whose parameters differ in embARC MLI 2.0, in their embARC form. If
 * MLI_EMBARC_COMPAT is defined, or mli_compat_embarc.h is included, embARC's names call these.
 */

/**
 * Sets every field as mli_mov_cfg_all() does, with paddings for an HWC tensor: padtop/padbot around
 * dimension 0 (H), padleft/padright around dimension 1 (W). Returns its statuses.
 */
mli_status mli_compat_mov_cfg_all(mli_mov_cfg_t *cfg, const int *offsets, const int *sizes,
                                  const int *subsample_step, const int *dst_offsets,
                                  const int *dst_mem_stride, const uint8_t *perm_dim,
                                  uint8_t padleft, uint8_t padright, uint8_t padtop,
                                  uint8_t padbot);

/**
 * Moves as mli_mov_tensor_sync() does, with embARC's rule for per-axis parameters: dst's scale
 * pointer decides. If it is null or the source's own scale pointer, dst shares the source's three
 * arrays, and the function does not read dst's other two pointers. If it is any other pointer, all
 * three pointers are memory of the caller, which receives a copy.
 */
mli_status mli_compat_mov_tensor_sync(const mli_tensor *src, const mli_mov_cfg_t *cfg,
                                      mli_tensor *dst);

/** Prepares as mli_mov_prepare() does, with the rule of mli_compat_mov_tensor_sync(). */
mli_status mli_compat_mov_prepare(mli_mov_handle_t *h, const mli_tensor *src,
                                  const mli_mov_cfg_t *cfg, mli_tensor *dst);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* MLI_MOV_API_H */

#if defined(MLI_EMBARC_COMPAT) && !defined(MLI_COMPAT_KEEP_NAMES)
#include "mli_helpers_api.h"
#define mli_mov_cfg_all     mli_compat_mov_cfg_all
#define mli_mov_tensor_sync mli_compat_mov_tensor_sync
#define mli_mov_prepare     mli_compat_mov_prepare
#endif
