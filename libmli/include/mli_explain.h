/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explains a move as plain data, without reading or writing tensor data (extension): for programs
 * that show a move to people, or prove which bytes it accesses.
 *
 *   mli_mov_explain()       arguments -> every step of the move in numbers, and its plan
 *   mli_mov_explain_unplaced() the same for tensors without memory
 *   mli_plan_kernel()       the leaf kernel that moves a descriptor of a plan on this processor
 *   mli_plan_split()        the parts of a plan for several channels
 *   mli_legalise_init()     (mli_engine.h) the descriptors that an engine makes of a plan,
 *   mli_legalise_count()    and their number
 *   mli_mov_engine_caps()   the capabilities of an engine's channels
 *
 * mli_mov_api.h defines the steps: pad, crop, subsample, permute, place.
 */
#ifndef MLI_EXPLAIN_H
#define MLI_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "mli_mov_api.h"
#include "mli_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** One source dimension of a move. Coordinates count from 0; all numbers are in elements. */
typedef struct mli_explained_axis {
    uint32_t extent;   /**< extent of the source */
    uint32_t pad_pre;  /**< number of zeros that the move adds before the source */
    uint32_t pad_post; /**< number of zeros that the move adds after the source */
    uint64_t padded;   /**< extent with padding */
    uint64_t offset;   /**< first sample of the window, in the padded source */
    uint64_t size;     /**< samples in the window, never 0 */
    uint64_t step;     /**< step of the subsampling */
    uint64_t count;    /**< samples that are written: ceil(size / step) */
    uint64_t lo, hi;   /**< samples [lo, hi) come from the source, the others are zeros; if lo == hi
                          in any dimension, the move writes only zeros */
    uint64_t first;    /**< source coordinate of sample lo; 0 where lo == hi */
    uint32_t dst_dim;  /**< destination dimension that this source dimension becomes */
    uint32_t dst_offset; /**< destination coordinate of sample 0 */
    uint64_t src_stride; /**< elements from one source coordinate to the next */
    uint64_t dst_stride; /**< elements from one destination coordinate to the next; may be 0 if the
                            extent is 1 */
} mli_explained_axis;

/** Bytes [begin, end), counted from a tensor's first element; empty if begin == end. */
typedef struct mli_byte_range {
    uint64_t begin, end;
} mli_byte_range;

typedef struct mli_explanation {
    uint32_t rank;
    uint32_t elem; /**< size of an element in bytes */
    /** Axes, indexed by source dimension; zeros beyond the rank. */
    mli_explained_axis axis[MLI_MAX_RANK];
    /** Shape, indexed by destination dimension, offsets included. */
    uint32_t dst_shape[MLI_MAX_RANK];
    uint64_t samples;             /**< samples that the move writes */
    uint64_t samples_read;        /**< samples that the move reads from the source */
    mli_byte_range read, written; /**< from the first to the last byte that the move accesses */
    struct mli_plan plan;         /**< the plan; its addresses are inside src and dst */
} mli_explanation;

/**
 * Explains a move. A permute is explained as the move that mli_mov_cfg_for_permute() builds.
 *
 * @param src  as for mli_mov_tensor_sync(), with a data pointer and a capacity; its data is not
 * read
 * @param cfg  the move
 * @param dst  as for mli_mov_tensor_sync(); not changed
 * @param out  filled if the status is MLI_STATUS_OK, else unchanged
 * @return as mli_mov_tensor_sync(), without MLI_STATUS_DMA_ERROR, and
 * @retval MLI_STATUS_ARGUMENT_ERROR out is null
 *
 * Thread-safe for tensors that no other thread writes.
 */
mli_status mli_mov_explain(const mli_tensor *src, const mli_mov_cfg_t *cfg, const mli_tensor *dst,
                           mli_explanation *out);

/**
 * Explains a move of tensors that have no memory yet, like mli_mov_explain(). The data pointers
 * must not be null, but no memory need be there: addresses of the plan are computed from them, and
 * the choice of kernels depends on their alignment. It is assumed that src and dst do not overlap.
 */
mli_status mli_mov_explain_unplaced(const mli_tensor *src, const mli_mov_cfg_t *cfg,
                                    const mli_tensor *dst, mli_explanation *out);

/** Maximum number of bytes that mli_plan_kernel() writes. */
#define MLI_KERNEL_TEXT_MAX 96

/**
 * Names the leaf kernel that moves a descriptor on this processor, its level, and how it stores, as
 * in "transpose of 2-byte elements, avx512, streamed" (streamed stores bypass the caches).
 * Descriptor 0 is the copy box of the plan, descriptor n is slab n - 1. A kernel of one level may
 * call a kernel of a lower level. The choice depends on the alignment of the addresses in the plan:
 * give addresses with the page offsets of the real ones.
 *
 * The text holds if the plan is moved as a whole. An engine that moves it in chunks chooses a
 * kernel for each chunk; the engine `threads` moves plans of 256 KiB and more in chunks.
 *
 * The text is for people; its wording may change. Returns `text`; empty if the plan has no such
 * descriptor, or if the descriptor writes nothing.
 *
 * Thread-safe.
 */
const char *mli_plan_kernel(const struct mli_plan *plan, size_t descriptor,
                            char text[MLI_KERNEL_TEXT_MAX]);

/**
 * Cuts a plan into the parts of a transfer on `channels` channels (1 to MLI_MOV_MAX_CHANNELS):
 * parts[0 .. n) are the plans of the channels. The parts are disjoint, and together write what the
 * plan writes. Returns n. n is less than `channels` if parts would have `tiny` bytes or fewer
 * (mli_channel_caps has that number; 0: no part is too small) or cannot be cut; 0 if `channels` is
 * out of range or the plan is empty.
 *
 * Thread-safe.
 */
size_t mli_plan_split(const struct mli_plan *plan, uint32_t channels, size_t tiny,
                      struct mli_plan *parts);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* MLI_EXPLAIN_H */
