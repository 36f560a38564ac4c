/* SPDX-License-Identifier: BSD-3-Clause */
/* The move (mli_mov_api.h) that a load, a store or a file of a plan makes. */
#pragma once

#include "target/tile/tile_jobs.h"

/*
 * A transfer moves data between a tensor outside the buffers and a packed tile in a buffer. Loads
 * read the tensor, stores write a region of the tensor; files have the shape of the tile.
 */
struct tile_transfer {
    uint32_t rank;
    uint32_t src_shape[MLI_MAX_RANK];
    int32_t src_strides[MLI_MAX_RANK]; /* strides in elements; 0: packed */
    mli_mov_cfg_t cfg;
    uint32_t dst_shape[MLI_MAX_RANK]; /* shape of the whole tensor that the region is in */
};

/** Sets *transfer to the move of a job, which must not be a kernel. */
void tile_transfer_init(struct tile_transfer *transfer, const struct tile_plan *plan,
                        const struct tile_job *job);

/** Sets the shape of a whole operand, outermost dimension first. Returns its rank. */
uint32_t tile_operand_shape(const struct tile_layer *layer, uint32_t operand,
                            uint32_t shape[MLI_MAX_RANK]);
