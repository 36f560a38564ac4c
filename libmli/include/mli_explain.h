/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a move is going to do, as plain data, without reading or writing any of it (extension): for
 * whoever shows a move to people, or proves that it stays where it should.
 *
 *   mli_mov_explain()       arguments -> every step of the move in numbers, and its plan
 *   mli_plan_kernel()       which leaf kernel a descriptor of a plan runs in, on this processor
 *   mli_plan_split()        how several channels share a plan
 *   mli_legalise_init()     (mli_engine.h) what descriptors an engine makes of a plan,
 *   mli_legalise_count()    how many
 *   mli_mov_engine_caps()   and what its channels can do
 *
 * The steps are those at the top of mli_mov_api.h: pad, crop, subsample, permute, place.
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

/** One source dimension on its way. Coordinates count from 0, in elements, as do all of these. */
typedef struct mli_explained_axis {
    uint32_t extent;     /**< of the source */
    uint32_t pad_pre;    /**< zero samples before it ... */
    uint32_t pad_post;   /**< ... and behind */
    uint64_t padded;     /**< extent with both */
    uint64_t offset;     /**< where the window begins, in the padded source */
    uint64_t size;       /**< samples in the window, never 0 */
    uint64_t step;       /**< of the subsampling */
    uint64_t count;      /**< samples that are written: ceil(size / step) */
    uint64_t lo, hi;     /**< samples [lo, hi) of those come from the source, the others are zeros;
                              where any dimension has none, all samples of the move are zeros */
    uint64_t first;      /**< source coordinate of sample lo; 0 where lo == hi */
    uint32_t dst_dim;    /**< the destination dimension that it becomes */
    uint32_t dst_offset; /**< destination coordinate of sample 0 */
    uint64_t src_stride; /**< from one source coordinate to the next */
    uint64_t dst_stride; /**< from one destination coordinate to the next */
} mli_explained_axis;

/** Bytes [begin, end), counted from a tensor's first element; begin == end: none. */
typedef struct mli_byte_range {
    uint64_t begin, end;
} mli_byte_range;

typedef struct mli_explanation {
    uint32_t rank;
    uint32_t elem;                         /**< bytes of an element */
    mli_explained_axis axis[MLI_MAX_RANK]; /**< by source dimension; zeros beyond the rank */
    uint32_t dst_shape[MLI_MAX_RANK];      /**< by destination dimension, offsets included */
    uint64_t samples;                      /**< written in all */
    uint64_t samples_read;                 /**< of those, from the source */
    mli_byte_range read, written;          /**< from the first to the last byte that is touched */
    struct mli_plan plan;                  /**< addresses are those of src and dst */
} mli_explanation;

/**
 * Explains a move. A permute is explained as the move that mli_mov_cfg_for_permute() stands for.
 *
 * @param src  as for mli_mov_tensor_sync(); its data pointer and capacity count, nothing is read
 * @param cfg  the move
 * @param dst  as for mli_mov_tensor_sync(); not changed
 * @param out  filled with MLI_STATUS_OK, else left alone
 * @return as mli_mov_tensor_sync(), without MLI_STATUS_DMA_ERROR, and
 * @retval MLI_STATUS_ARGUMENT_ERROR out is null
 *
 * Thread-safe for tensors no other thread writes.
 */
mli_status mli_mov_explain(const mli_tensor *src, const mli_mov_cfg_t *cfg, const mli_tensor *dst,
                           mli_explanation *out);

/** Bytes that mli_plan_kernel() needs at most. */
#define MLI_KERNEL_TEXT_MAX 96

/**
 * Names the leaf kernel that the processor moves a descriptor with (0: the copy box; n: slab n -
 * 1), the level it is called of (which may pass on what a level below does as well), and what else
 * is special about it, as in "transpose of 2-byte elements, avx512, streamed": written past the
 * caches. Alignments count, so addresses shall be as far into a page as those of the move will be.
 *
 * It is said of the plan as a whole. Who moves it in pieces chooses anew for each: channels that
 * are threads do so from 256 KiB on.
 *
 * The text is for people; what it says may change. Returns `text`; empty where the plan has no such
 * descriptor, or nothing to do in it.
 *
 * Thread-safe.
 */
const char *mli_plan_kernel(const struct mli_plan *plan, size_t descriptor,
                            char text[MLI_KERNEL_TEXT_MAX]);

/**
 * Cuts a plan as a transfer on `channels` channels is (1 to MLI_MOV_MAX_CHANNELS): parts[0 .. n)
 * are what each of them does. They are disjoint, and together the plan. Returns n, which is less
 * than `channels` where parts would come out with `tiny` bytes or fewer (mli_channel_caps has that
 * number; 0: none is too small) or cannot be cut; 0 where `channels` is not in range or the plan is
 * empty.
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
