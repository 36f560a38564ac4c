/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/transfer.h"

#include "libmli/src/error.h"
#include "libmli/src/profile.h"

static mli_status check_arguments(const mli_tensor *src, const mli_mov_cfg_t *cfg,
                                  const mli_tensor *dst)
{
    mli_status status = tensor_check(src, "src");

    if (status == MLI_STATUS_OK)
        status = tensor_check_data(src, "src");
    if (status != MLI_STATUS_OK)
        return status;
    if (!dst)
        return refuse(MLI_STATUS_BAD_TENSOR, "dst", ": null given; a tensor is required");
    status = tensor_check_data(dst, "dst");
    if (status == MLI_STATUS_OK && !cfg)
        status =
            refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg", ": null given; a configuration is required");
    return status;
}

static inline mli_status check_memory(struct transfer *transfer, const mli_tensor *src,
                                      const mli_mov_cfg_t *cfg, const mli_tensor *dst)
{
    mli_status status = geometry_check_memory(&transfer->geometry, src, dst);

    if (status == MLI_STATUS_OK)
        status = quant_plan(&transfer->quant, &transfer->geometry, src, cfg, dst);
    if (status == MLI_STATUS_OK && profile_active.strict)
        status = profile_check_alignment(&transfer->geometry, src, dst);
    return status;
}

mli_status transfer_check_memory(struct transfer *transfer, const mli_tensor *src,
                                 const mli_mov_cfg_t *cfg, const mli_tensor *dst)
{
    return check_memory(transfer, src, cfg, dst);
}

mli_status transfer_check(struct transfer *transfer, const mli_tensor *src,
                          const mli_mov_cfg_t *cfg, const mli_tensor *dst, bool unplaced)
{
    mli_status status = check_arguments(src, cfg, dst);

    transfer->geometry.src_name = "src";
    transfer->geometry.dst_name = "dst";
    transfer->geometry.unplaced = unplaced;
    if (status == MLI_STATUS_OK)
        status = geometry_init(&transfer->geometry, src, cfg, dst);
    if (status == MLI_STATUS_OK)
        status = check_memory(transfer, src, cfg, dst);
    return status;
}
