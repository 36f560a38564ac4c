/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * embARC MLI 2.0's spelling of the functions whose prototypes differ from the spec texts. After
 * this header the short names mean embARC's form; the spec's form is then reached by not
 * including it. For C and C++.
 */
#ifndef MLI_COMPAT_EMBARC_H
#define MLI_COMPAT_EMBARC_H

#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "mli_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * mli_mov_cfg_all() with paddings for an HWC tensor: padtop/padbot around dimension 0 (H),
 * padleft/padright around dimension 1 (W). Statuses as the spec's form.
 */
mli_status mli_compat_mov_cfg_all(mli_mov_cfg_t *cfg, const int *offsets, const int *sizes,
                                  const int *subsample_step, const int *dst_offsets,
                                  const int *dst_mem_stride, const uint8_t *perm_dim,
                                  uint8_t padleft, uint8_t padright, uint8_t padtop,
                                  uint8_t padbot);

/**
 * Entry `scale_idx` of a per-axis tensor's scales; a tensor without an axis has one entry for all
 * indices. 0 for an invalid tensor or an index beyond the axis.
 */
int32_t mli_compat_hlp_tensor_scale(const mli_tensor *in, uint32_t scale_idx);

/** As mli_compat_hlp_tensor_scale(), for scale_frac_bits (fx: frac_bits). */
int32_t mli_compat_hlp_tensor_scale_shift(const mli_tensor *in, uint32_t scale_idx);

/** As mli_compat_hlp_tensor_scale(), for the zero point. */
int16_t mli_compat_hlp_tensor_zero_offset(const mli_tensor *in, uint32_t zero_idx);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#define mli_mov_cfg_all            mli_compat_mov_cfg_all
#define mli_hlp_tensor_scale       mli_compat_hlp_tensor_scale
#define mli_hlp_tensor_scale_shift mli_compat_hlp_tensor_scale_shift
#define mli_hlp_tensor_zero_offset mli_compat_hlp_tensor_zero_offset

#endif /* MLI_COMPAT_EMBARC_H */
