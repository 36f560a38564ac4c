/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions mli_mov_cfg_*: builders of configurations. These functions check only for null
 * pointers.
 */
#include <stddef.h>

#include "libmli/src/builtins.h"
#include "libmli/src/error.h"
#include "mli_mov_api.h"

static mli_status null_cfg(void)
{
    return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg", ": null given; a configuration is required");
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

/* An array of the caller with MLI_MAX_RANK entries, and the member that gets it bit by bit. */
struct given {
    const char *name;
    const void *values;
    size_t member, entry; /* offset of the array in mli_mov_cfg_t; bytes of each entry, 4 or 1 */
};

#define GIVEN(member, values)                                                                      \
    {                                                                                              \
#values, values, offsetof(mli_mov_cfg_t, member), sizeof(*(values))                        \
    }

_Static_assert(sizeof(int) == sizeof(uint32_t),
               "mli_mov_cfg_for_*() take arrays of int, as in embARC: int must have 32 bits");

/* Checks all arrays, then sets their members; the other members become neutral. Inline, so that
   sizes are constants. */
static inline mli_status build(mli_mov_cfg_t *cfg, const struct given *given, size_t count)
{
    if (!cfg)
        return null_cfg();
    for (size_t i = 0; i < count; i++) {
        if (!given[i].values)
            return refuse(MLI_STATUS_ARGUMENT_ERROR, given[i].name,
                          ": null given; % entries are required", MLI_MAX_RANK);
    }
    mli_mov_cfg_for_copy(cfg);
    for (size_t i = 0; i < count; i++)
        copy_bytes((uint8_t *)cfg + given[i].member, given[i].values,
                   MLI_MAX_RANK * given[i].entry);
    return MLI_STATUS_OK;
}

#define BUILD(cfg, ...)                                                                            \
    build(cfg, (const struct given[]){__VA_ARGS__},                                                \
          sizeof((const struct given[]){__VA_ARGS__}) / sizeof(struct given))

mli_status mli_mov_cfg_for_slice(mli_mov_cfg_t *cfg, const int *offsets, const int *sizes,
                                 const int *dst_mem_stride)
{
    return BUILD(cfg, GIVEN(offset, offsets), GIVEN(size, sizes),
                 GIVEN(dst_mem_stride, dst_mem_stride));
}

mli_status mli_mov_cfg_for_concat(mli_mov_cfg_t *cfg, const int *dst_offsets,
                                  const int *dst_mem_stride)
{
    return BUILD(cfg, GIVEN(dst_offset, dst_offsets), GIVEN(dst_mem_stride, dst_mem_stride));
}

mli_status mli_mov_cfg_for_subsample(mli_mov_cfg_t *cfg, const int *sub_sample_step,
                                     const int *dst_mem_stride)
{
    return BUILD(cfg, GIVEN(sub_sample_step, sub_sample_step),
                 GIVEN(dst_mem_stride, dst_mem_stride));
}

mli_status mli_mov_cfg_for_permute(mli_mov_cfg_t *cfg, const uint8_t *perm_dim)
{
    return BUILD(cfg, GIVEN(perm_dim, perm_dim));
}

/* Paddings of the two image dimensions, for any layout. */
struct padding {
    uint8_t left, right, top, bottom;
};

static mli_status padding2d(mli_mov_cfg_t *cfg, struct padding pad, int h, int w,
                            const int *dst_mem_stride)
{
    const mli_status status = BUILD(cfg, GIVEN(dst_mem_stride, dst_mem_stride));

    if (status != MLI_STATUS_OK)
        return status;
    cfg->padding_pre[h] = pad.top;
    cfg->padding_post[h] = pad.bottom;
    cfg->padding_pre[w] = pad.left;
    cfg->padding_post[w] = pad.right;
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
    return BUILD(cfg, GIVEN(sub_sample_step, subsample_step), GIVEN(dst_offset, dst_offsets),
                 GIVEN(perm_dim, perm_dim), GIVEN(padding_pre, pad_pre),
                 GIVEN(padding_post, pad_post), GIVEN(offset, offsets), GIVEN(size, sizes),
                 GIVEN(dst_mem_stride, dst_mem_stride));
}
