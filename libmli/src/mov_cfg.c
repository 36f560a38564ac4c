/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions mli_mov_cfg_*: builders of configurations. These functions check only for null
 * pointers.
 */
#include "libmli/src/builtins.h"
#include "libmli/src/error.h"
#include "mli_mov_api.h"

static mli_status null_cfg(void)
{
    return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg", ": null given; a configuration is required");
}

static mli_status null_array(const char *name)
{
    (void)name; /* unused in builds without error texts */
    return refuse(MLI_STATUS_ARGUMENT_ERROR, name, ": null given; % entries are required",
                  MLI_MAX_RANK);
}

/* Copies an array of the caller: MLI_MAX_RANK entries of 4 bytes, bit by bit. */
static void take(void *field, const int *values)
{
    _Static_assert(sizeof(int) == sizeof(uint32_t),
                   "mli_mov_cfg_for_*() take arrays of int, as in embARC: int must have 32 bits");
    copy_bytes(field, values, MLI_MAX_RANK * sizeof(uint32_t));
}

mli_status mli_mov_cfg_for_copy(mli_mov_cfg_t *cfg)
{
    if (!cfg)
        return null_cfg();
    zero_bytes(cfg, sizeof(*cfg));
    for (int d = 0; d < MLI_MAX_RANK; d++) {
        cfg->sub_sample_step[d] = 1;
        cfg->perm_dim[d] = (uint8_t)d;
    }
    return MLI_STATUS_OK;
}

mli_status mli_mov_cfg_for_slice(mli_mov_cfg_t *cfg, const int *offsets, const int *sizes,
                                 const int *dst_mem_stride)
{
    if (!cfg)
        return null_cfg();
    if (!offsets)
        return null_array("offsets");
    if (!sizes)
        return null_array("sizes");
    if (!dst_mem_stride)
        return null_array("dst_mem_stride");
    mli_mov_cfg_for_copy(cfg);
    take(cfg->offset, offsets);
    take(cfg->size, sizes);
    take(cfg->dst_mem_stride, dst_mem_stride);
    return MLI_STATUS_OK;
}

mli_status mli_mov_cfg_for_concat(mli_mov_cfg_t *cfg, const int *dst_offsets,
                                  const int *dst_mem_stride)
{
    if (!cfg)
        return null_cfg();
    if (!dst_offsets)
        return null_array("dst_offsets");
    if (!dst_mem_stride)
        return null_array("dst_mem_stride");
    mli_mov_cfg_for_copy(cfg);
    take(cfg->dst_offset, dst_offsets);
    take(cfg->dst_mem_stride, dst_mem_stride);
    return MLI_STATUS_OK;
}

mli_status mli_mov_cfg_for_subsample(mli_mov_cfg_t *cfg, const int *sub_sample_step,
                                     const int *dst_mem_stride)
{
    if (!cfg)
        return null_cfg();
    if (!sub_sample_step)
        return null_array("sub_sample_step");
    if (!dst_mem_stride)
        return null_array("dst_mem_stride");
    mli_mov_cfg_for_copy(cfg);
    take(cfg->sub_sample_step, sub_sample_step);
    take(cfg->dst_mem_stride, dst_mem_stride);
    return MLI_STATUS_OK;
}

mli_status mli_mov_cfg_for_permute(mli_mov_cfg_t *cfg, const uint8_t *perm_dim)
{
    if (!cfg)
        return null_cfg();
    if (!perm_dim)
        return null_array("perm_dim");
    mli_mov_cfg_for_copy(cfg);
    copy_bytes(cfg->perm_dim, perm_dim, MLI_MAX_RANK);
    return MLI_STATUS_OK;
}

/* Paddings of the two image dimensions, for any layout. */
struct padding {
    uint8_t left, right, top, bottom;
};

static mli_status padding2d(mli_mov_cfg_t *cfg, struct padding pad, int h, int w,
                            const int *dst_mem_stride)
{
    if (!cfg)
        return null_cfg();
    if (!dst_mem_stride)
        return null_array("dst_mem_stride");
    mli_mov_cfg_for_copy(cfg);
    cfg->padding_pre[h] = pad.top;
    cfg->padding_post[h] = pad.bottom;
    cfg->padding_pre[w] = pad.left;
    cfg->padding_post[w] = pad.right;
    take(cfg->dst_mem_stride, dst_mem_stride);
    return MLI_STATUS_OK;
}

mli_status mli_mov_cfg_for_padding2d_chw(mli_mov_cfg_t *cfg, uint8_t padleft, uint8_t padright,
                                         uint8_t padtop, uint8_t padbot, const int *dst_mem_stride)
{
    const struct padding pad = {padleft, padright, padtop, padbot};

    return padding2d(cfg, pad, FMAP_H_DIM_CHW, FMAP_W_DIM_CHW, dst_mem_stride);
}

mli_status mli_mov_cfg_for_padding2d_hwc(mli_mov_cfg_t *cfg, uint8_t padleft, uint8_t padright,
                                         uint8_t padtop, uint8_t padbot, const int *dst_mem_stride)
{
    const struct padding pad = {padleft, padright, padtop, padbot};

    return padding2d(cfg, pad, FMAP_H_DIM_HWC, FMAP_W_DIM_HWC, dst_mem_stride);
}

mli_status mli_mov_cfg_all(mli_mov_cfg_t *cfg, const int *offsets, const int *sizes,
                           const int *subsample_step, const int *dst_offsets,
                           const int *dst_mem_stride, const uint8_t *perm_dim,
                           const uint8_t *pad_pre, const uint8_t *pad_post)
{
    if (!cfg)
        return null_cfg();
    if (!subsample_step)
        return null_array("subsample_step");
    if (!dst_offsets)
        return null_array("dst_offsets");
    if (!perm_dim)
        return null_array("perm_dim");
    if (!pad_pre)
        return null_array("pad_pre");
    if (!pad_post)
        return null_array("pad_post");
    /* The slice builder checks and copies the three remaining arrays. */
    const mli_status status = mli_mov_cfg_for_slice(cfg, offsets, sizes, dst_mem_stride);
    if (status != MLI_STATUS_OK)
        return status;
    take(cfg->sub_sample_step, subsample_step);
    take(cfg->dst_offset, dst_offsets);
    copy_bytes(cfg->perm_dim, perm_dim, MLI_MAX_RANK);
    copy_bytes(cfg->padding_pre, pad_pre, MLI_MAX_RANK);
    copy_bytes(cfg->padding_post, pad_post, MLI_MAX_RANK);
    return MLI_STATUS_OK;
}
