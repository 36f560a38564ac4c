/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions mli_krn_permute_*: a move that only permutes, into a tensor that has its shape already.
 */
#include "libmli/src/error.h"
#include "libmli/src/exec/exec.h"
#include "libmli/src/profile.h"
#include "libmli/src/tensor.h"
#include "libmli/src/transfer.h"
#include "mli_kernels_api.h"
#include "mli_mov_api.h"

static mli_status check_tensors(const mli_tensor *in, const mli_tensor *out, mli_element_type type)
{
    mli_status status = tensor_check(in, "in");

    if (status == MLI_STATUS_OK)
        status = tensor_check_data(in, "in");
    if (status == MLI_STATUS_OK)
        status = tensor_check(out, "out");
    if (status == MLI_STATUS_OK)
        status = tensor_check_data(out, "out");
    if (status != MLI_STATUS_OK)
        return status;
    if (in->el_type != type)
        return refuse(MLI_STATUS_TYPE_MISMATCH, "in", ".el_type: % given, but the kernel's is %",
                      in->el_type, type);
    if (out->el_type != type)
        return refuse(MLI_STATUS_TYPE_MISMATCH, "out", ".el_type: % given, but the kernel's is %",
                      out->el_type, type);
    return MLI_STATUS_OK;
}

static mli_status check_shape(const struct geometry *g, const mli_tensor *out)
{
    if (out->rank != g->rank)
        return refuse(MLI_STATUS_SHAPE_MISMATCH, "out", ".rank: % given; must be %", out->rank,
                      g->rank);
    for (uint32_t i = 0; i < g->rank; i++) {
        if (out->shape[i] != g->dst_shape[i])
            return refuse(MLI_STATUS_SHAPE_MISMATCH, "out", ".shape[%]: % given; must be %", i,
                          out->shape[i], g->dst_shape[i]);
    }
    return MLI_STATUS_OK;
}

static mli_status check_profile(const struct geometry *g, const mli_tensor *in,
                                const mli_tensor *out)
{
    mli_status status = profile_check_bank(in, &g->read, g->src_name);

    if (status == MLI_STATUS_OK)
        status = profile_check_bank(out, &g->written, g->dst_name);
    return status;
}

static mli_status permute(const mli_tensor *in, const mli_permute_cfg *cfg, mli_tensor *out,
                          mli_element_type type)
{
    struct transfer transfer;
    struct mli_plan plan;
    mli_mov_cfg_t mov;
    mli_status status = check_tensors(in, out, type);

    if (status != MLI_STATUS_OK)
        return status;
    if (!cfg)
        return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg", ": null given; a configuration is required");
    mli_mov_cfg_for_permute(&mov, cfg->perm_dim);
    transfer.geometry.src_name = "in";
    transfer.geometry.dst_name = "out";
    transfer.geometry.unplaced = false;
    status = geometry_init(&transfer.geometry, in, &mov, out);
    if (status == MLI_STATUS_OK)
        status = check_shape(&transfer.geometry, out);
    if (status == MLI_STATUS_OK)
        status = transfer_check_memory(&transfer, in, &mov, out);
    if (status == MLI_STATUS_OK && profile_active.strict)
        status = check_profile(&transfer.geometry, in, out);
    if (status != MLI_STATUS_OK)
        return status;

    transfer_plan(&transfer, in, out, &plan);
    exec_run(&plan, plan.bytes);
    quant_apply(&transfer.quant, out);
    return MLI_STATUS_OK;
}

mli_status mli_krn_permute_sa8(const mli_tensor *in, const mli_permute_cfg *cfg, mli_tensor *out)
{
    return permute(in, cfg, out, MLI_EL_SA_8);
}

mli_status mli_krn_permute_fx8(const mli_tensor *in, const mli_permute_cfg *cfg, mli_tensor *out)
{
    return permute(in, cfg, out, MLI_EL_FX_8);
}

mli_status mli_krn_permute_fx16(const mli_tensor *in, const mli_permute_cfg *cfg, mli_tensor *out)
{
    return permute(in, cfg, out, MLI_EL_FX_16);
}

mli_status mli_krn_permute_sa32(const mli_tensor *in, const mli_permute_cfg *cfg, mli_tensor *out)
{
    return permute(in, cfg, out, MLI_EL_SA_32);
}
