/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of the embARC MLI 2.0 API: tensors, quantisation parameters, configurations, statuses.
 *
 * Glossary
 *   tensor    rank, shape and strides over a data container. Index 0 is the outermost dimension.
 *   shape     extent of each dimension in elements.
 *   stride    distance in elements between neighbours along a dimension. 0 means packed on top of
 *             the next inner dimension: stride[i] = stride[i + 1] * shape[i + 1], where
 *             stride[i + 1] is given or computed. A packed innermost stride is 1. Strides have at
 *             most 31 bits; an extent of 1 needs no stride.
 *   capacity  size in bytes of the memory that a data container points to.
 *   per-axis  quantisation with one set of parameters for each index along dimension `sa.dim`.
 *
 * Field order, names and enum values agree with embARC MLI 2.0: code written for embARC compiles
 * unchanged. The library never reads entries of arrays at or beyond `rank`. A move or a sub-tensor
 * that writes a tensor's layout sets these entries to 1 (shape) and 0 (mem_stride).
 */
#ifndef MLI_TYPES_H
#define MLI_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Gives a function another name for the linker than in C. Functions that embARC MLI 2.0 declares
 * with other parameters or another handle type have names that begin with mli_abi_. An object
 * compiled with embARC's headers therefore does not link with this library; it would fail at run
 * time.
 */
#define MLI_LINK_NAME(name)   __asm__(MLI_LINK_TEXT(__USER_LABEL_PREFIX__) #name)
#define MLI_LINK_TEXT(text)   MLI_LINK_QUOTED(text)
#define MLI_LINK_QUOTED(text) #text

/** Highest rank of a tensor, and the length of every per-dimension array. */
#define MLI_MAX_RANK 4

/* Dimension indices of feature maps in the two common layouts. */
#define FMAP_H_DIM_HWC 0
#define FMAP_W_DIM_HWC 1
#define FMAP_C_DIM_HWC 2
#define FMAP_C_DIM_CHW 0
#define FMAP_H_DIM_CHW 1
#define FMAP_W_DIM_CHW 2

/* Dimension indices of convolution weights: C output channels, D input channels. */
#define KRNL_C_DIM_CHW  0
#define KRNL_D_DIM_CHW  1
#define KRNL_H_DIM_CHW  2
#define KRNL_W_DIM_CHW  3
#define KRNL_C_DIM_HWC  0
#define KRNL_H_DIM_HWC  1
#define KRNL_W_DIM_HWC  2
#define KRNL_D_DIM_HWC  3
#define KRNL_H_DIM_HWCN 0
#define KRNL_W_DIM_HWCN 1
#define KRNL_D_DIM_HWCN 2
#define KRNL_C_DIM_HWCN 3

/* Dimension indices of depthwise weights: N output channels, D is 1. */
#define KRNL_DW_H_DIM_HW1N 0
#define KRNL_DW_W_DIM_HW1N 1
#define KRNL_DW_D_DIM_HW1N 2
#define KRNL_DW_N_DIM_HW1N 3

/* Dimension indices of recurrent weights: input and output elements. */
#define KRNL_RNN_W_IN_ELEMS_DIM  1
#define KRNL_RNN_W_OUT_ELEMS_DIM 2

/*
 * Every status: X(name without prefix, value, meaning). The enum, mli_status_name() and
 * mli_status_text() are made from this table. CANCELLED and DMA_ERROR are extensions to embARC MLI.
 */
#define MLI_STATUS_TABLE(X)                                                                        \
    X(OK, 0, "done")                                                                               \
    X(BAD_TENSOR, 1, "a tensor is null or not valid")                                              \
    X(SHAPE_MISMATCH, 2, "the output's shape is not the shape of the result")                      \
    X(INCOMPATEBLE_TENSORS, 3, "source and destination, or destination elements, overlap")         \
    X(BAD_FUNC_CFG, 4, "the configuration is null or out of range")                                \
    X(NOT_ENGH_MEM, 5, "a buffer is too small, an index overflows, or no channel is free")         \
    X(NOT_SUPPORTED, 6, "the element type is not supported")                                       \
    X(SPEC_PARAM_MISMATCH, 7, "the quantisation parameters are inconsistent")                      \
    X(ARGUMENT_ERROR, 8, "a number is out of range or a handle is in the wrong state")             \
    X(LENGTH_ERROR, 9, "a length does not fit; embARC MLI reserves this status")                   \
    X(SIZE_MISMATCH, 10, "sizes do not match; embARC MLI reserves this status")                    \
    X(RANK_MISMATCH, 11, "ranks do not match; embARC MLI reserves this status")                    \
    X(TYPE_MISMATCH, 12, "the element type is not the type of the kernel")                         \
    X(MEM_BANK_MISMATCH, 13, "a kernel operand is outside the vector memory of the profile")       \
    X(MISALIGNMENT_ERROR, 14, "an address is not aligned to its element")                          \
    X(CANCELLED, 15, "the transfer was cancelled before it was complete")                          \
    X(DMA_ERROR, 16, "a DMA channel failed; the transfer is incomplete")

/** The result of every function that can refuse its arguments. */
typedef enum _mli_status {
#define MLI_STATUS_ENUM(name, value, text) MLI_STATUS_##name = (value),
    MLI_STATUS_TABLE(MLI_STATUS_ENUM)
#undef MLI_STATUS_ENUM
        MLI_STATUS_LARGE_ENUM = 0x02000000 /**< keeps the enum 32 bits wide; never returned */
} mli_status;

/** Element type of a tensor. The low byte is the element's size in bits. */
typedef enum _mli_element_type {
    MLI_EL_FX_4 = 0x4,    /**< every function refuses it (NOT_SUPPORTED) */
    MLI_EL_FX_8 = 0x8,    /**< 8-bit fixed point, `fx.frac_bits` fractional bits */
    MLI_EL_FX_16 = 0x10,  /**< 16-bit fixed point */
    MLI_EL_SA_8 = 0x108,  /**< 8-bit asymmetric, parameters in `sa` */
    MLI_EL_SA_32 = 0x120, /**< 32-bit asymmetric (biases, accumulators) */
    MLI_EL_FP_16 = 0x210, /**< IEEE 754 half precision */
    MLI_EL_FP_32 = 0x220, /**< IEEE 754 single precision */
    MLI_EL_LARGE_ENUM = 0x02000000
} mli_element_type;

/** Kind of quantisation parameters: 16-bit scale and zero point. */
typedef enum _mli_element_param_type {
    MLI_EL_PARAM_SC16_ZP16 = 0,
    MLI_EL_PARAM_LARGE_ENUM = 0x02000000
} mli_element_param_type;
typedef mli_element_param_type mli_el_param_type;

/** A pointer and the size of the memory behind it, or (capacity 0) one value. */
typedef struct _mli_data_container {
    uint32_t capacity; /**< bytes at the pointer; 0 if `mem` holds a value */
    union {
        int32_t *pi32;
        int16_t *pi16;
        int8_t *pi8;
        float *pf32;
        int32_t i32;
        int16_t i16;
        int8_t i8;
        float f32;
    } mem;
} mli_data_container;

/**
 * Quantisation of a tensor's elements: `fx` for fx types, `sa` for sa types. fp types have none.
 */
typedef union _mli_element_params {
    struct {
        int8_t frac_bits; /**< real value = element / 2^frac_bits */
    } fx;
    struct {
        mli_element_param_type type;
        /**
         * real value = (element - zero_point) * scale / 2^scale_frac_bits
         * If `dim` < 0, the tensor has one value of each: zero_point.mem.i16, scale.mem.i16 and
         * scale_frac_bits.mem.i8; the capacities are 0. If `dim` >= 0, there are arrays of
         * shape[dim] values at mem.pi16, mem.pi16 and mem.pi8; capacities are in bytes.
         */
        mli_data_container zero_point;
        mli_data_container scale;
        int32_t dim;
        mli_data_container scale_frac_bits;
    } sa;
} mli_element_params;

/** A tensor: a view of memory that the caller owns. */
typedef struct _mli_tensor {
    mli_data_container data;          /**< first element; capacity from there on */
    int32_t mem_stride[MLI_MAX_RANK]; /**< strides in elements; 0: packed, see the glossary */
    uint32_t shape[MLI_MAX_RANK];     /**< extents in elements, each at least 1 */
    uint32_t rank;                    /**< 1 .. MLI_MAX_RANK */
    mli_element_type el_type;
    mli_element_params el_params;
} mli_tensor;

/** Configuration of a permute kernel: output dimension i is input dimension perm_dim[i]. */
typedef struct _mli_permute_cfg {
    uint8_t perm_dim[MLI_MAX_RANK];
} mli_permute_cfg;

/** A part of a tensor, for mli_hlp_subtensor(). */
typedef struct _mli_sub_tensor_cfg {
    uint32_t offset[MLI_MAX_RANK]; /**< first element of each input dimension */
    uint32_t size[MLI_MAX_RANK];   /**< elements of each input dimension, at least 1 */
    uint32_t sub_tensor_rank;      /**< rank to reach by removing dimensions of size 1 */
} mli_sub_tensor_cfg;
typedef mli_sub_tensor_cfg mli_subtensor_cfg;

/** A part of a packed tensor, for mli_hlp_point_to_subtensor(). */
typedef struct _mli_point_to_subtsr_cfg {
    uint32_t start_coord[MLI_MAX_RANK]; /**< first element of dimensions 0 .. coord_num - 1 */
    uint8_t coord_num; /**< number of coordinates, 1 .. rank; all of these dimensions but the last
                          are removed */
    uint8_t first_out_dim_size; /**< extent of dimension coord_num - 1, at least 1 */
} mli_point_to_subtsr_cfg;

/** A look-up table of embARC MLI's kernels. This library only declares the type. */
typedef struct _mli_lut {
    mli_data_container data; /**< the table */
    mli_element_type type;   /**< type of the entries */
    int32_t length;          /**< entries in the table */
    int32_t in_frac_bits;    /**< fractional bits of the argument */
    int32_t out_frac_bits;   /**< fractional bits of the result */
    int32_t input_offset;    /**< added to the argument before the look-up */
    int32_t output_offset;   /**< subtracted from the result */
} mli_lut;

#ifdef __cplusplus
}
#endif

#endif /* MLI_TYPES_H */
