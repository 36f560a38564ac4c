/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helpers: properties of tensors, sub-tensors without copying, conversion of elements, texts of
 * statuses, processor levels, target profile.
 * Implements spec "Helper Functions Group" (helper_functions.rst). Every function is thread-safe
 * except mli_cpu_set_mask(), mli_cpu_set_stream_min(), mli_profile_set() and
 * mli_profile_set_vector_memories().
 */
#ifndef MLI_HELPERS_API_H
#define MLI_HELPERS_API_H

#include <stddef.h>

#include "mli_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * Returns the size of one element in bytes: 1, 2 or 4; 0 for a null tensor or an unsupported
 * element type.
 */
uint32_t mli_hlp_tensor_element_size(const mli_tensor *in);

/**
 * Returns the product of the shape from dimension `start_dim` to the last; 1 for a tensor of rank
 * 0, with any start_dim. Returns 0 for a null tensor, a rank above 4, start_dim >= rank, or a
 * product beyond 32 bits (mli_last_error() names the fault).
 */
uint32_t mli_hlp_count_elem_num(const mli_tensor *in, uint32_t start_dim);

/**
 * Returns whether two tensors of one element type have the same data pointer. Returns false for
 * tensors of rank 0 (their data is a value), null tensors and unsupported element types.
 */
bool mli_hlp_tensor_data_ptr_cmp(const mli_tensor *in1, const mli_tensor *in2);

/** Returns the scale. sa: the scale (per axis: entry 0); fx and fp: 1; invalid tensor: 0. */
int16_t mli_hlp_tensor_scale(const mli_tensor *in) MLI_LINK_NAME(mli_abi_hlp_tensor_scale);

/**
 * Returns the scale's fractional bits. sa: scale_frac_bits (per axis: entry 0); fx: frac_bits; fp
 * and invalid: 0.
 */
int16_t mli_hlp_tensor_scale_shift(const mli_tensor *in)
    MLI_LINK_NAME(mli_abi_hlp_tensor_scale_shift);

/** Returns the zero point. sa: the zero point (per axis: entry 0); fx, fp and invalid: 0. */
int16_t mli_hlp_tensor_zero_offset(const mli_tensor *in)
    MLI_LINK_NAME(mli_abi_hlp_tensor_zero_offset);

/**
 * Makes `out` a view of a part of `in`; copies no data. `out` shares in's memory and strides;
 * strides of 0 become the computed ones (see mli_types.h). The capacity of `out` is that of `in`
 * minus the bytes before the new first element. If sub_tensor_rank is below in's rank, dimensions
 * of size 1 are removed, the first ones first, until the rank is reached. Per-axis quantisation
 * pointers advance with the offset along their axis, and `sa.dim` follows its dimension; if the
 * axis itself is removed, the parameters of the kept index become per-tensor values. `out` may be
 * `in` itself.
 *
 * @retval MLI_STATUS_OK                  *out is complete
 * @retval MLI_STATUS_BAD_TENSOR          null in or out, or an invalid `in`
 * @retval MLI_STATUS_NOT_SUPPORTED       element type FX_4
 * @retval MLI_STATUS_NOT_ENGH_MEM        the sub-tensor extends beyond in's capacity, a computed
 *                                        stride exceeds 31 bits, or overflow
 * @retval MLI_STATUS_BAD_FUNC_CFG        null cfg, offset + size beyond the shape, a size of 0, a
 *                                        rank of 0, above in's, or not reachable
 * @retval MLI_STATUS_SPEC_PARAM_MISMATCH per-axis arrays null or short, dim >= rank
 */
mli_status mli_hlp_subtensor(const mli_tensor *in, const mli_sub_tensor_cfg *cfg, mli_tensor *out);

/** embARC 2.0's name of mli_hlp_subtensor(). */
mli_status mli_hlp_create_subtensor(const mli_tensor *in, const mli_sub_tensor_cfg *cfg,
                                    mli_tensor *out);

/**
 * Makes `out` a view of a part of `in` along its first dimensions, as one indexes a nested array;
 * copies no data. The first cfg->coord_num - 1 dimensions are fixed at their coordinates and
 * removed. The next dimension keeps first_out_dim_size elements from its coordinate on, and the
 * dimensions after it keep all elements. The result is that of mli_hlp_subtensor(), except that
 * out's capacity ends with the last element of the view.
 *
 * @return as mli_hlp_subtensor(), and
 * @retval MLI_STATUS_BAD_FUNC_CFG null cfg, coord_num 0 or above in's rank, first_out_dim_size 0,
 *                                 or a coordinate beyond the shape
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
 *             Out: the elements; if the rank was 0, rank and shape. Nothing else changes.
 *
 * Conversion in place: `dst` may have the data pointer of `src` if element sizes and strides are
 * equal. One tensor may have per-axis parameters, or both along one axis.
 *
 * A refused call changes nothing.
 *
 * @retval MLI_STATUS_OK                   done
 * @retval MLI_STATUS_BAD_TENSOR           a null tensor or data, an invalid `src`, a stride below 0
 *                                         or an unknown element type of dst
 * @retval MLI_STATUS_NOT_SUPPORTED        element type FX_4 or FP_16
 * @retval MLI_STATUS_SHAPE_MISMATCH       dst's rank is neither 0 nor src's, or its shape differs
 * @retval MLI_STATUS_NOT_ENGH_MEM         a capacity ends before the last element, or overflow
 * @retval MLI_STATUS_INCOMPATEBLE_TENSORS the byte ranges of src and dst overlap but not in place,
 *                                         or elements of dst overlap
 * @retval MLI_STATUS_SPEC_PARAM_MISMATCH  a scale below 1, axes differ, or per-axis arrays are
 *                                         null, short or inside dst's data
 * @retval MLI_STATUS_MEM_BANK_MISMATCH    strict profile only: data outside the vector memory
 * @retval MLI_STATUS_MISALIGNMENT_ERROR   strict profile only: an address that is not aligned to
 * its element
 *
 * Thread-safe for tensors that no other thread writes. embARC MLI 2.0: "Data Conversion Group".
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
 * Return the guard bits of the accumulator, by the active profile's guard bit option. Spec:
 * "Accumulator" (vpx_specifics.rst).
 */
uint8_t mli_hlp_accu_guard_bits_sa8_sa8(void);   /**< guard bits 0, 4, 8 for options 0, 1, 2 */
uint8_t mli_hlp_accu_guard_bits_fx16_fx16(void); /**< guard bits 0, 4, 8 for options 0, 1, 2 */
uint8_t mli_hlp_accu_guard_bits_fx16_fx8(void);  /**< guard bits 8, 12, 16 for options 0, 1, 2 */

/**
 * Returns the name of a status, such as "MLI_STATUS_OK"; "MLI_STATUS_?" for any other value. Static
 * storage.
 */
const char *mli_status_name(mli_status status);

/** Returns the meaning of a status in one phrase. Static storage. */
const char *mli_status_text(mli_status status);

/**
 * Returns why the library refused this thread's last refused call: field, value and bound, as in
 * "dst.data.capacity: 1024 B given; 1536 B are needed". Empty before the first refusal; calls that
 * succeed do not change it. Valid until the thread's next refused call. In a build with
 * debug_mode=release, returns only the text of the status.
 */
const char *mli_last_error(void);

/** Returns the library's version, "major.minor.patch". Static storage. */
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
 * Allows the levels with bits in the mask, if the processor has them; 0 is plain C. Before the
 * first call, the environment variable MLI_CPU_MASK has the mask, a number in C notation. If the
 * variable is not set, or is no number (mli_cpu_ignored()), all levels are allowed. Moves write
 * equal bytes with every mask. Call the function while no other thread is inside the library.
 */
void mli_cpu_set_mask(uint32_t mask);

/** Returns the level in use: "c", "avx2", "avx512" or "neon". Static storage. */
const char *mli_cpu_level(void);

/**
 * Sets the minimum size of destinations whose stores bypass the caches, for the levels that have
 * these stores: "avx2" and "avx512" (extension). 0: all sizes; UINT64_MAX: none. Before the first
 * call it is the number in the environment variable MLI_STREAM_MIN, or else 32 MiB. Streaming is
 * faster for any size if the destination is not in the caches, and slower if it is
 * (docs/performance.md). Some large transposes stream from smaller sizes: from a 32nd of `bytes` if
 * rows of the destination are a multiple of 2 KiB apart; from a sixth of `bytes` for 1-byte
 * elements, for rows or columns of two dimensions, and for pixels of up to 16 bytes. Moves write
 * the same bytes with every value. Call it while no other thread is inside the library.
 */
void mli_cpu_set_stream_min(uint64_t bytes);

/**
 * Returns the name of the index-th environment variable that the library ignores because its text
 * is not a number from 0 on (MLI_CPU_MASK: below 2^32, MLI_STREAM_MIN: below 2^64; extension). Null
 * past the last one. Static storage. Thread-safe while no thread changes the environment.
 */
const char *mli_cpu_ignored(int index);

/** The target chip that the library assumes (extension). Spec: "ARC VPX Specific Details". */
typedef struct _mli_profile {
    uint8_t guard_bit_option;  /**< Xvec_guard_bit_option: 0, 1 or 2 */
    bool strict;               /**< check addresses as the chip requires */
    const void *vector_memory; /**< first byte of the memory for operands of kernels (VCCM) */
    size_t vector_memory_size; /**< bytes of that memory; 0: none, so that a strict profile refuses
                                    all kernels */
} mli_profile;

/**
 * Makes a copy of *profile the active profile; null restores the default: option 2, not strict.
 * Call it while no other thread is inside the library.
 *
 * @retval MLI_STATUS_OK             active
 * @retval MLI_STATUS_ARGUMENT_ERROR guard_bit_option above 2
 */
mli_status mli_profile_set(const mli_profile *profile);

/** A memory for operands of kernels (extension). */
typedef struct _mli_vector_memory {
    const void *base; /**< first byte */
    size_t size;      /**< in bytes, at least 1 */
} mli_vector_memory;

/** Maximum number of vector memories of a profile. */
#define MLI_VECTOR_MEMORIES_MAX 8

/**
 * Replaces the vector memory of the active profile by `count` memories, for chips that have several
 * (extension). With a strict profile, no operand of a kernel may then be outside of these memories.
 * Copies the array. The next mli_profile_set() replaces the memories again. Call it while no other
 * thread is inside the library.
 *
 * @retval MLI_STATUS_OK             active
 * @retval MLI_STATUS_ARGUMENT_ERROR count above MLI_VECTOR_MEMORIES_MAX, a null array with count
 *                                   above 0, or a memory of 0 bytes or beyond the last address;
 *                                   nothing has changed
 */
mli_status mli_profile_set_vector_memories(const mli_vector_memory *memories, uint32_t count);

/*
 * Functions of this header whose parameters differ in embARC MLI 2.0, in their embARC form. If
 * MLI_EMBARC_COMPAT is defined, or mli_compat_embarc.h is included, embARC's names call these.
 */

/**
 * Returns entry `scale_idx` of a per-axis tensor's scales; a tensor without an axis has one entry
 * for all indices. Returns 0 for an invalid tensor or an index beyond the axis.
 */
int32_t mli_compat_hlp_tensor_scale(const mli_tensor *in, uint32_t scale_idx);

/** Returns scale_frac_bits (fx: frac_bits). `scale_idx`: see mli_compat_hlp_tensor_scale(). */
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

#endif /* MLI_HELPERS_API_H */

#if defined(MLI_EMBARC_COMPAT) && !defined(MLI_COMPAT_KEEP_NAMES)
#include "mli_config.h"
#define mli_hlp_tensor_scale              mli_compat_hlp_tensor_scale
#define mli_hlp_tensor_scale_shift        mli_compat_hlp_tensor_scale_shift
#define mli_hlp_tensor_zero_offset        mli_compat_hlp_tensor_zero_offset
#define mli_hlp_accu_guard_bits_sa8_sa8   mli_compat_hlp_accu_guard_bits_sa8_sa8
#define mli_hlp_accu_guard_bits_fx16_fx16 mli_compat_hlp_accu_guard_bits_fx16_fx16
#define mli_hlp_accu_guard_bits_fx16_fx8  mli_compat_hlp_accu_guard_bits_fx16_fx8
#endif
