/* SPDX-License-Identifier: BSD-3-Clause */
/* embARC MLI 2.0's prototypes and rules, for functions with another form in this library. */
#include <stddef.h>

#include "libmli/src/profile.h"
#include "libmli/src/tensor.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"

mli_status mli_compat_mov_cfg_all(mli_mov_cfg_t *cfg, const int *offsets, const int *sizes,
                                  const int *subsample_step, const int *dst_offsets,
                                  const int *dst_mem_stride, const uint8_t *perm_dim,
                                  uint8_t padleft, uint8_t padright, uint8_t padtop, uint8_t padbot)
{
    const uint8_t pre[MLI_MAX_RANK] = {[FMAP_H_DIM_HWC] = padtop, [FMAP_W_DIM_HWC] = padleft};
    const uint8_t post[MLI_MAX_RANK] = {[FMAP_H_DIM_HWC] = padbot, [FMAP_W_DIM_HWC] = padright};

    return mli_mov_cfg_all(cfg, offsets, sizes, subsample_step, dst_offsets, dst_mem_stride,
                           perm_dim, pre, post);
}

/* Returns whether dst shares src's per-axis arrays: dst's scale pointer decides. */
static bool shares_arrays(const mli_tensor *src, const mli_tensor *dst)
{
    const int16_t *scale;

    if (!src || !dst || !tensor_is_per_axis(src))
        return false;
    scale = dst->el_params.sa.scale.mem.pi16;
    return !scale || scale == src->el_params.sa.scale.mem.pi16;
}

/*
 * Returns the destination for this library: dst itself, or *to with three null pointers, which
 * share the source's arrays.
 */
static mli_tensor *adapt(const mli_tensor *src, mli_tensor *dst, mli_tensor *to)
{
    if (!shares_arrays(src, dst))
        return dst;
    *to = *dst;
    to->el_params.sa.zero_point.mem.pi16 = NULL;
    to->el_params.sa.scale.mem.pi16 = NULL;
    to->el_params.sa.scale_frac_bits.mem.pi8 = NULL;
    return to;
}

mli_status mli_compat_mov_tensor_sync(const mli_tensor *src, const mli_mov_cfg_t *cfg,
                                      mli_tensor *dst)
{
    mli_tensor to, *used = adapt(src, dst, &to);
    const mli_status status = mli_mov_tensor_sync(src, cfg, used);

    if (status == MLI_STATUS_OK && used != dst)
        *dst = to;
    return status;
}

mli_status mli_compat_mov_prepare(mli_mov_handle_t *h, const mli_tensor *src,
                                  const mli_mov_cfg_t *cfg, mli_tensor *dst)
{
    mli_tensor to, *used = adapt(src, dst, &to);
    const mli_status status = mli_mov_prepare(h, src, cfg, used);

    if (status == MLI_STATUS_OK && used != dst)
        *dst = to;
    return status;
}

/*
 * Use guard bits for accumulators of 32 and 64 bits, as embARC's host build has; if a profile was
 * set, use the guard bits of its chip.
 */
uint8_t mli_compat_hlp_accu_guard_bits_sa8_sa8(void)
{
    return profile_is_set ? mli_hlp_accu_guard_bits_sa8_sa8() : 32 - 8 - 8;
}

uint8_t mli_compat_hlp_accu_guard_bits_fx16_fx16(void)
{
    return profile_is_set ? mli_hlp_accu_guard_bits_fx16_fx16() : 64 - 16 - 16;
}

uint8_t mli_compat_hlp_accu_guard_bits_fx16_fx8(void)
{
    return profile_is_set ? mli_hlp_accu_guard_bits_fx16_fx8() : 32 - 16 - 8;
}
