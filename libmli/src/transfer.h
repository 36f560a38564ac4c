/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From arguments to a plan: every check of a move or permute in the documented order, and what the
 * destination tensor is going to be. Nothing is changed by any of it.
 */
#ifndef MLI_TRANSFER_H
#define MLI_TRANSFER_H

#include "geometry.h"
#include "mli_mov_api.h"
#include "plan.h"
#include "quant.h"

struct transfer {
    struct geometry geometry;
    struct quant_move quant;
};

/** The whole check of a move. Statuses as mli_mov_tensor_sync(). */
mli_status transfer_check(struct transfer *transfer, const mli_tensor *src,
                          const mli_mov_cfg_t *cfg, const mli_tensor *dst);

/** The part of it that follows once transfer->geometry is known. */
mli_status transfer_check_memory(struct transfer *transfer, const mli_tensor *src,
                                 const mli_mov_cfg_t *cfg, const mli_tensor *dst);

/** Plans what was checked. */
void transfer_plan(const struct transfer *transfer, const mli_tensor *src, const mli_tensor *dst,
                   struct mli_plan *plan);

/** Sets rank, shape, strides and element type of the destination. */
void transfer_set_layout(const struct geometry *geometry, mli_element_type type, mli_tensor *dst);

#endif /* MLI_TRANSFER_H */
