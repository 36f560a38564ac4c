/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions with other prototypes or rules in embARC MLI 2.0 than in the spec. With this header the
 * short names mean embARC's form; without it, the spec's form. For C and C++. With
 * MLI_EMBARC_COMPAT defined, mli_api.h, mli_mov_api.h and mli_helpers_api.h include it.
 *
 * With MLI_COMPAT_KEEP_NAMES defined, the header only declares the mli_compat_* functions.
 */
#ifndef MLI_COMPAT_EMBARC_H
#define MLI_COMPAT_EMBARC_H

#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "mli_types.h"

#ifndef MLI_COMPAT_KEEP_NAMES
#include "mli_config.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * Sets every field as mli_mov_cfg_all() does, with paddings for an HWC tensor: padtop/padbot around
 * dimension 0 (H), padleft/padright around dimension 1 (W). Returns its statuses.
 */
mli_status mli_compat_mov_cfg_all(mli_mov_cfg_t *cfg, const int *offsets, const int *sizes,
                                  const int *subsample_step, const int *dst_offsets,
                                  const int *dst_mem_stride, const uint8_t *perm_dim,
                                  uint8_t padleft, uint8_t padright, uint8_t padtop,
                                  uint8_t padbot);

/**
 * Moves as mli_mov_tensor_sync() does, with embARC's rule for per-axis parameters: dst's scale
 * pointer decides. If it is null or the source's own scale pointer, dst shares the source's three
 * arrays, and the function does not read dst's other two pointers. If it is any other pointer, all
 * three pointers are memory of the caller, which receives a copy.
 */
mli_status mli_compat_mov_tensor_sync(const mli_tensor *src, const mli_mov_cfg_t *cfg,
                                      mli_tensor *dst);

/** Prepares as mli_mov_prepare() does, with the rule of mli_compat_mov_tensor_sync(). */
mli_status mli_compat_mov_prepare(mli_mov_handle_t *h, const mli_tensor *src,
                                  const mli_mov_cfg_t *cfg, mli_tensor *dst);

/**
 * Returns entry `scale_idx` of a per-axis tensor's scales; a tensor without an axis has one entry
 * for all indices. Returns 0 for an invalid tensor or an index beyond the axis.
 */
int32_t mli_compat_hlp_tensor_scale(const mli_tensor *in, uint32_t scale_idx);

/** Returns scale_frac_bits (fx: frac_bits), as mli_compat_hlp_tensor_scale() returns the scale. */
int32_t mli_compat_hlp_tensor_scale_shift(const mli_tensor *in, uint32_t scale_idx);

/** Returns the zero point, as mli_compat_hlp_tensor_scale() returns the scale. */
int16_t mli_compat_hlp_tensor_zero_offset(const mli_tensor *in, uint32_t zero_idx);

/*
 * Guard bits of embARC's host build (PLATFORM is X86_PLATFORM), which has 32-bit and 64-bit
 * accumulators; after mli_profile_set() has named a chip, those of the chip.
 */
uint8_t mli_compat_hlp_accu_guard_bits_sa8_sa8(void);   /**< 16 */
uint8_t mli_compat_hlp_accu_guard_bits_fx16_fx16(void); /**< 32 */
uint8_t mli_compat_hlp_accu_guard_bits_fx16_fx8(void);  /**< 8 */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#ifndef MLI_COMPAT_KEEP_NAMES
#define mli_mov_cfg_all                   mli_compat_mov_cfg_all
#define mli_mov_tensor_sync               mli_compat_mov_tensor_sync
#define mli_mov_prepare                   mli_compat_mov_prepare
#define mli_hlp_tensor_scale              mli_compat_hlp_tensor_scale
#define mli_hlp_tensor_scale_shift        mli_compat_hlp_tensor_scale_shift
#define mli_hlp_tensor_zero_offset        mli_compat_hlp_tensor_zero_offset
#define mli_hlp_accu_guard_bits_sa8_sa8   mli_compat_hlp_accu_guard_bits_sa8_sa8
#define mli_hlp_accu_guard_bits_fx16_fx16 mli_compat_hlp_accu_guard_bits_fx16_fx16
#define mli_hlp_accu_guard_bits_fx16_fx8  mli_compat_hlp_accu_guard_bits_fx16_fx8
#endif

#endif /* MLI_COMPAT_EMBARC_H */
