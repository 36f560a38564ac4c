/* SPDX-License-Identifier: BSD-3-Clause */
/* Permute kernels. Implements spec "Permute Prototype and Function List" (permute.rst). */
#ifndef MLI_KERNELS_API_H
#define MLI_KERNELS_API_H

#include "mli_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * Transposes `in` into `out`: out dimension i is in dimension cfg->perm_dim[i]. A shape (2, 4, 8)
 * with perm_dim (2, 0, 1) becomes (8, 2, 4).
 *
 * @param in   input; only read
 * @param cfg  first `in->rank` entries of perm_dim: a permutation of 0 .. rank-1
 * @param out  In: `data`, `rank`, `el_type`, the permuted `shape` and `mem_stride` (0: packed, as
 * in a move). Out: the elements and `el_params`. Nothing else changes. If the input has parameters
 * per axis, the caller also sets the three pointers of `el_params.sa`: to memory that receives a
 * copy of the input's array, or to null, and then out points to the input's array.
 *
 * A refused call changes nothing.
 *
 * @retval MLI_STATUS_OK                   done
 * @retval MLI_STATUS_BAD_TENSOR           as mli_mov_tensor_sync(), for both tensors
 * @retval MLI_STATUS_NOT_SUPPORTED        element type FX_4
 * @retval MLI_STATUS_TYPE_MISMATCH        `in` or `out` is not of the kernel's element type
 * @retval MLI_STATUS_SHAPE_MISMATCH       out's rank or shape is not the permuted one
 * @retval MLI_STATUS_BAD_FUNC_CFG         null cfg, or perm_dim is not a permutation
 * @retval MLI_STATUS_NOT_ENGH_MEM         a capacity ends before the last byte, or overflow
 * @retval MLI_STATUS_INCOMPATEBLE_TENSORS in and out overlap, or elements of out overlap
 * @retval MLI_STATUS_SPEC_PARAM_MISMATCH  per-axis parameters: as mli_mov_tensor_sync()
 * @retval MLI_STATUS_MEM_BANK_MISMATCH    strict profile only: data outside the vector memory
 * @retval MLI_STATUS_MISALIGNMENT_ERROR   strict profile only: an address that is not aligned to
 * its element
 *
 * Thread-safe for tensors that no other thread writes.
 */
mli_status mli_krn_permute_sa8(const mli_tensor *in, const mli_permute_cfg *cfg, mli_tensor *out);

/** Transposes as mli_krn_permute_sa8() does, for MLI_EL_FX_8. */
mli_status mli_krn_permute_fx8(const mli_tensor *in, const mli_permute_cfg *cfg, mli_tensor *out);

/** Transposes as mli_krn_permute_sa8() does, for MLI_EL_FX_16. */
mli_status mli_krn_permute_fx16(const mli_tensor *in, const mli_permute_cfg *cfg, mli_tensor *out);

/** Transposes as mli_krn_permute_sa8() does, for MLI_EL_SA_32. */
mli_status mli_krn_permute_sa32(const mli_tensor *in, const mli_permute_cfg *cfg, mli_tensor *out);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* MLI_KERNELS_API_H */
