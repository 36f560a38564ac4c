/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From arguments to a plan: all checks of a move or permute, in the documented order, and the
 * fields that the destination tensor will have. The checks change nothing.
 */
#pragma once

#include "libmli/src/build.h"
#include "libmli/src/geometry.h"
#include "libmli/src/plan.h"
#include "libmli/src/quant.h"
#include "libmli/src/tensor.h"
#include "mli_mov_api.h"

struct transfer {
    struct geometry geometry;
    struct quant_move quant;
};

/**
 * Makes all checks of a move. Returns the statuses of mli_mov_tensor_sync(). `unplaced`: the data
 * pointers refer to no memory, and are not compared.
 */
mli_status transfer_check(struct transfer *transfer, const mli_tensor *src,
                          const mli_mov_cfg_t *cfg, const mli_tensor *dst, bool unplaced);

/**
 * Checks memory, quantisation and alignment of a move whose geometry the caller has put into
 * transfer->geometry. Returns the statuses of transfer_check().
 */
mli_status transfer_check_memory(struct transfer *transfer, const mli_tensor *src,
                                 const mli_mov_cfg_t *cfg, const mli_tensor *dst);

/** Plans a checked transfer. */
static inline void transfer_plan(const struct transfer *transfer, const mli_tensor *src,
                                 const mli_tensor *dst, struct mli_plan *plan)
{
    plan_build(plan, &transfer->geometry, tensor_bytes(src), tensor_bytes(dst));
}

/**
 * Returns whether to fill the whole span of the destination with zeros before the move. For a short
 * span without gaps this is faster than a plan with slabs of zeros. Returns false for transposes,
 * because their kernels write the zeros beside rows as if they were columns.
 */
static inline bool transfer_has_little_padding(const struct transfer *transfer)
{
    enum { LITTLE = 3072 };
    const struct geometry *g = &transfer->geometry;
    const uint64_t span = g->written.end - g->written.begin;

    return g->pads && g->reads && span <= LITTLE && span == g->samples * g->elem &&
           g->order[g->rank - 1] == g->rank - 1;
}

/**
 * Sets rank, shape, strides and element type of the destination. Beyond the rank, entries of the
 * shape become 1 and strides become 0.
 */
static inline void transfer_set_layout(const struct geometry *geometry, mli_element_type type,
                                       mli_tensor *dst)
{
    const uint32_t rank = geometry->rank;

    dst->rank = rank;
    dst->el_type = type;
    /* The loop is unrolled, because compilers would otherwise replace it by two calls of memcpy. */
    BUILD_UNROLL for (uint32_t i = 0; i < MLI_MAX_RANK; i++)
    {
        dst->shape[i] = i < rank ? geometry->dst_shape[i] : 1;
        dst->mem_stride[i] = i < rank ? geometry->dst_stride[i] : 0;
    }
}
