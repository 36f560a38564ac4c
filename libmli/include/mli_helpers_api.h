/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helpers: facts about tensors, sub-tensors without copying, statuses in words, target profile.
 * Implements spec "Helper Functions Group" (helper_functions.rst). Everything is thread-safe
 * except mli_profile_set().
 */
#ifndef MLI_HELPERS_API_H
#define MLI_HELPERS_API_H

#include <stddef.h>

#include "mli_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** Bytes of one element: 1, 2 or 4; 0 for a null tensor or an unsupported element type. */
uint32_t mli_hlp_tensor_element_size(const mli_tensor *in);

/**
 * Returns the product of the shape from dimension `start_dim` to the last; 1 for a tensor of rank
 * 0, with any start_dim. 0 for a null tensor, a rank above 4, start_dim >= rank, or a product
 * beyond 32 bits (mli_last_error() names the fault).
 */
uint32_t mli_hlp_count_elem_num(const mli_tensor *in, uint32_t start_dim);

/**
 * Returns whether two tensors of one element type have the same data pointer. False for tensors of
 * rank 0 (their data is a value), null tensors and unsupported element types.
 */
bool mli_hlp_tensor_data_ptr_cmp(const mli_tensor *in1, const mli_tensor *in2);

/** sa: the scale (entry 0 where per axis); fx and fp: 1; invalid tensor: 0. */
int16_t mli_hlp_tensor_scale(const mli_tensor *in) MLI_LINK_NAME(mli_abi_hlp_tensor_scale);

/** sa: scale_frac_bits (entry 0 where per axis); fx: frac_bits; fp and invalid: 0. */
int16_t mli_hlp_tensor_scale_shift(const mli_tensor *in)
    MLI_LINK_NAME(mli_abi_hlp_tensor_scale_shift);

/** sa: the zero point (entry 0 where per axis); fx, fp and invalid: 0. */
int16_t mli_hlp_tensor_zero_offset(const mli_tensor *in)
    MLI_LINK_NAME(mli_abi_hlp_tensor_zero_offset);

/**
 * Makes `out` a view of a part of `in`; no data is copied. `out` shares in's memory and strides;
 * strides of 0 become the computed ones (see mli_types.h). The capacity of `out` is that of `in`
 * less the bytes before the new first element. Where sub_tensor_rank is below in's
 * rank, dimensions of size 1 are removed from the first on until it is reached. Per-axis
 * quantisation pointers advance with the offset along their axis and `sa.dim` follows its
 * dimension; where the axis itself is removed, the parameters of that index stay as per-tensor
 * values. `out` may be the same structure as `in`.
 *
 * @retval MLI_STATUS_OK                  *out is complete
 * @retval MLI_STATUS_BAD_TENSOR          null in or out, or an invalid `in`
 * @retval MLI_STATUS_NOT_SUPPORTED       element type FX_4
 * @retval MLI_STATUS_NOT_ENGH_MEM        the sub-tensor reaches beyond in's capacity, a computed
 *                                        stride exceeds 31 bits, or overflow
 * @retval MLI_STATUS_BAD_FUNC_CFG        null cfg, offset + size beyond the shape, a size of 0, a
 *                                        rank of 0, above in's, or not reachable
 * @retval MLI_STATUS_SPEC_PARAM_MISMATCH per-axis arrays null or short, dim >= rank
 */
mli_status mli_hlp_subtensor(const mli_tensor *in, const mli_sub_tensor_cfg *cfg, mli_tensor *out);

/** The name embARC 2.0 gives mli_hlp_subtensor(). */
mli_status mli_hlp_create_subtensor(const mli_tensor *in, const mli_sub_tensor_cfg *cfg,
                                    mli_tensor *out);

/**
 * Makes `out` a view of a part of `in` along its first dimensions, as one indexes a nested array;
 * no data is copied. Of the first cfg->coord_num dimensions, all but the last are fixed at their
 * coordinate and removed; of the last one `out` has first_out_dim_size elements from its coordinate
 * on, and all elements of the dimensions after it. The result is that of mli_hlp_subtensor(),
 * except that out's capacity ends with the last element of the view.
 *
 * @return as mli_hlp_subtensor(), and
 * @retval MLI_STATUS_BAD_FUNC_CFG null cfg, coord_num 0 or above in's rank, first_out_dim_size 0,
 * or a coordinate beyond the shape
 */
mli_status mli_hlp_point_to_subtensor(const mli_tensor *in, const mli_point_to_subtsr_cfg *cfg,
                                      mli_tensor *out);

/**
 * Converts the elements of `src` to dst's element type and quantisation parameters:
 *
 *     dst = saturate(round((src - zero_point) * scale / 2^frac_bits
 *                          * 2^dst.frac_bits / dst.scale) + dst.zero_point)
 *
 * computed exactly, with one rounding; fx and fp types have zero point 0 and scale 1. Types are
 * fx8, fx16, sa8, sa32 and fp32 on both sides.
 *
 *   between fx and sa   halves are rounded up (towards plus infinity)
 *   fp32 to fx, sa      halves are rounded away from zero; NaN becomes the zero point
 *   fx, sa to fp32      rounded to the nearest float, halves to even
 *   fp32 to fp32        copied bit by bit
 *
 * @param src  source; only read
 * @param dst  In: `data`, `el_type`, `el_params` (what to convert to; sa: also the arrays'
 *             contents) and `mem_stride` (0: packed), and either src's rank and shape or rank 0.
 *             Out: the elements; where the rank was 0, rank and shape. Nothing else changes.
 *
 * Conversion in place: `dst` may have the data pointer of `src` if element sizes and strides are
 * equal. Per-axis parameters may be on one side, or on both sides along one axis.
 *
 * A refused call changes nothing at all.
 *
 * @retval MLI_STATUS_OK                   done
 * @retval MLI_STATUS_BAD_TENSOR           a null tensor or data, an invalid `src`, a stride below 0
 *                                         or an unknown element type of dst
 * @retval MLI_STATUS_NOT_SUPPORTED        element type FX_4 or FP_16
 * @retval MLI_STATUS_SHAPE_MISMATCH       dst's rank is neither 0 nor src's, or its shape differs
 * @retval MLI_STATUS_NOT_ENGH_MEM         capacity short of the last element, or overflow
 * @retval MLI_STATUS_INCOMPATEBLE_TENSORS the byte ranges of src and dst overlap but not in place,
 *                                         or elements of dst overlap
 * @retval MLI_STATUS_SPEC_PARAM_MISMATCH  a scale below 1, axes differ, or per-axis arrays are
 * null, short or inside dst's data
 * @retval MLI_STATUS_MEM_BANK_MISMATCH    strict profile only: data outside the vector memory
 * @retval MLI_STATUS_MISALIGNMENT_ERROR   strict profile only: an address off its element boundary
 *
 * Thread-safe for tensors no other thread writes. embARC MLI 2.0: "Data Conversion Group".
 */
mli_status mli_hlp_convert_tensor(const mli_tensor *src, mli_tensor *dst);

/**
 * Converts as mli_hlp_convert_tensor() does, between fx and sa types only.
 *
 * @return as mli_hlp_convert_tensor(), and
 * @retval MLI_STATUS_TYPE_MISMATCH a tensor is of type MLI_EL_FP_32
 */
mli_status mli_hlp_convert_tensor_safx(const mli_tensor *src, mli_tensor *dst);

/**
 * Sets mem_stride to packed strides for the tensor's shape, in elements; entries beyond the rank
 * become 0.
 *
 * @retval MLI_STATUS_OK           done
 * @retval MLI_STATUS_BAD_TENSOR   null tensor, rank outside 1 .. 4, or a shape of 0
 * @retval MLI_STATUS_NOT_ENGH_MEM a stride beyond 31 bits
 */
mli_status mli_hlp_set_tensor_mem_strides(mli_tensor *in);

/*
 * Guard bits of the accumulator, by the active profile's guard bit option.
 * Spec: "Accumulator" (vpx_specifics.rst).
 */
uint8_t mli_hlp_accu_guard_bits_sa8_sa8(void);   /**< 0, 4, 8 for options 0, 1, 2 */
uint8_t mli_hlp_accu_guard_bits_fx16_fx16(void); /**< 0, 4, 8 */
uint8_t mli_hlp_accu_guard_bits_fx16_fx8(void);  /**< 8, 12, 16 */

/** A status' name, as "MLI_STATUS_OK"; "MLI_STATUS_?" for a value that is none. Static storage. */
const char *mli_status_name(mli_status status);

/** What a status means, in one phrase. Static storage. */
const char *mli_status_text(mli_status status);

/**
 * Why the last refused call of this thread was refused: field, value and bound, as in
 * "dst.data.capacity: 1024 B given, 1536 B needed". Empty before the first refusal; calls that
 * succeed leave it alone. Valid until the thread's next refused call. Built with
 * debug_mode=release it is only the status' text.
 */
const char *mli_last_error(void);

/** The library's version, "major.minor.patch". Static storage. */
const char *mli_version(void);

/**
 * Returns the settings this library was built with, as lines "NAME = VALUE": MLI_BUILD_REFERENCE
 * (always ON: portable arithmetic), ROUND_MODE (always UP: mli_hlp_convert_tensor_safx()) and
 * MLI_DEBUG_MODE (a name of mli_config.h). Static storage.
 */
const char *mli_hlp_compile_options_string(void);

/** Levels of kernels above plain C (extension). */
#define MLI_CPU_AVX2   1u /**< x86-64 */
#define MLI_CPU_AVX512 2u /**< x86-64, with F, BW, VL and VBMI */
#define MLI_CPU_NEON   4u /**< AArch64, little-endian */

/**
 * Allows the levels whose bits are set, as far as the processor has them; 0 is plain C. Before the
 * first call it is the number in the environment variable MLI_CPU_MASK, else all. What is moved is
 * the same with every mask. Call it while no other thread is inside the library.
 */
void mli_cpu_set_mask(uint32_t mask);

/** The level in use: "c", "avx2", "avx512" or "neon". Static storage. */
const char *mli_cpu_level(void);

/**
 * Destinations of `bytes` and more are written past the caches (extension), by levels that can:
 * "avx2" and "avx512". 0: all are; UINT64_MAX: none. Before the first call it is the number in the
 * environment variable MLI_STREAM_MIN, else 32 MiB. It is faster for any size where the destination
 * is not in the caches, and slower where it is (docs/performance.md). Large transposes begin
 * sooner: at a 32nd of it where rows of the destination lie a multiple of 2 KiB apart, else at a
 * sixth those of bytes, those whose rows or columns are made of two dimensions, and those to pixels
 * of up to 16 bytes. What is moved is the same with every value. Call it while no other thread is
 * inside the library.
 */
void mli_cpu_set_stream_min(uint64_t bytes);

/** What the library assumes about the target chip (extension). Spec: "ARC VPX Specific Details". */
typedef struct _mli_profile {
    uint8_t guard_bit_option;  /**< Xvec_guard_bit_option: 0, 1 or 2 */
    bool strict;               /**< check what the chip demands of addresses */
    const void *vector_memory; /**< first byte of the region kernels may work in (VCCM) */
    size_t vector_memory_size; /**< its bytes */
} mli_profile;

/**
 * Makes *profile the active one (it is copied); null restores the default: option 2, not strict.
 * Call it while no other thread is inside the library.
 *
 * @retval MLI_STATUS_OK             active
 * @retval MLI_STATUS_ARGUMENT_ERROR guard_bit_option above 2
 */
mli_status mli_profile_set(const mli_profile *profile);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#ifdef MLI_EMBARC_COMPAT
#include "mli_compat_embarc.h"
#endif

#endif /* MLI_HELPERS_API_H */
