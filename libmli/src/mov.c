/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions mli_mov_*: the synchronous move, and its checks. handle.c has the asynchronous ones;
 * plan.h describes the way of a move through the library.
 */
#include "libmli/src/build.h"
#include "libmli/src/builtins.h"
#include "libmli/src/dma/channel.h"
#include "libmli/src/dma/pool.h"
#include "libmli/src/error.h"
#include "libmli/src/exec/exec.h"
#include "libmli/src/tensor.h"
#include "libmli/src/transfer.h"
#include "mli_mov_api.h"

/* Returns the size above which a move uses a channel of a device. */
static size_t sync_limit(void)
{
    return MLI_CHANNELS > 0 ? channel_sync_limit() : SIZE_MAX;
}

/*
 * Moves on a channel of a device. Returns false if no channel is free: then the caller must move.
 */
static bool run_on_channel(const struct mli_plan *plan, mli_status *status)
{
    struct claim claim;
    struct slot *slot;

    if (run_in_callback() || !pool_try_claim(&claim))
        return false;
    slot = run_slot(claim.first);
    run_start(&claim, plan);
    *status = run_wait(&claim, slot);
    (void)pool_release(&claim);
    return true;
}

/*
 * Moves on this thread. Zeroes the whole span of the destination, then copies over it: for small
 * tensors that takes less time than planning zero slabs.
 */
static BUILD_APART void run_over_zeros(const struct transfer *transfer, const mli_tensor *src,
                                       const mli_tensor *dst)
{
    const struct geometry *g = &transfer->geometry;
    uint8_t *to = tensor_bytes(dst);
    struct mli_plan plan;

    plan_build_over_zeros(&plan, g, tensor_bytes(src), to);
    zero_bytes(to + g->written.begin, (size_t)(g->written.end - g->written.begin));
    exec_run(&plan, plan.bytes);
}

static BUILD_APART mli_status run(const struct transfer *transfer, const mli_tensor *src,
                                  const mli_tensor *dst)
{
    mli_status status = MLI_STATUS_OK;
    struct mli_plan plan;

    transfer_plan(transfer, src, dst, &plan);
    if (MLI_CHANNELS == 0 || plan.bytes <= sync_limit() || !run_on_channel(&plan, &status))
        exec_run(&plan, plan.bytes);
    return status;
}

mli_status mli_mov_tensor_sync(const mli_tensor *src, const mli_mov_cfg_t *cfg, mli_tensor *dst)
{
    struct transfer transfer;
    mli_status status = transfer_check(&transfer, src, cfg, dst, false);

    if (status != MLI_STATUS_OK)
        return status;
    if (transfer_has_little_padding(&transfer) && sync_limit() == SIZE_MAX)
        run_over_zeros(&transfer, src, dst);
    else
        status = run(&transfer, src, dst);
    if (status != MLI_STATUS_OK)
        return decline(status, "dst", ": a DMA channel failed while writing it");
    transfer_set_layout(&transfer.geometry, src->el_type, dst);
    quant_apply(&transfer.quant, dst);
    return MLI_STATUS_OK;
}

mli_status mli_mov_check(const mli_tensor *src, const mli_mov_cfg_t *cfg, mli_tensor *dst)
{
    struct transfer transfer;
    mli_status status;

    error_question(true);
    status = transfer_check(&transfer, src, cfg, dst, false);
    error_question(false);
    if (status != MLI_STATUS_OK)
        return status;
    transfer_set_layout(&transfer.geometry, src->el_type, dst);
    quant_apply(&transfer.quant, dst);
    return MLI_STATUS_OK;
}

/* Makes the checks of a move that need neither pointers nor capacities. */
static mli_status check_layout(struct geometry *geometry, const mli_tensor *src,
                               const mli_mov_cfg_t *cfg, const mli_tensor *dst)
{
    mli_status status = tensor_check(src, geometry->src_name);

    if (status == MLI_STATUS_OK && !dst)
        status = refuse(MLI_STATUS_BAD_TENSOR, "dst", ": null given; a tensor is required");
    if (status == MLI_STATUS_OK && !cfg)
        status =
            refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg", ": null given; a configuration is required");
    if (status == MLI_STATUS_OK)
        status = geometry_init(geometry, src, cfg, dst);
    if (status == MLI_STATUS_OK)
        status = geometry_check_spans(geometry);
    return status == MLI_STATUS_OK ? quant_check_dim(src, geometry->src_name) : status;
}

mli_status mli_mov_layout(const mli_tensor *src, const mli_mov_cfg_t *cfg, mli_tensor *dst)
{
    struct geometry geometry = {.src_name = "src", .dst_name = "dst"};
    mli_status status;

    error_question(true);
    status = check_layout(&geometry, src, cfg, dst);
    error_question(false);
    if (status != MLI_STATUS_OK)
        return status;
    transfer_set_layout(&geometry, src->el_type, dst);
    dst->data.capacity = (uint32_t)geometry.written.end;
    return MLI_STATUS_OK;
}
