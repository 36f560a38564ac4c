/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Headers of .npy files, versions 1.0, 2.0 and 3.0: bytes -> struct npy_header -> bytes. Accepts
 * the dtypes of DTYPE_TABLE in both byte orders and in all spellings that NumPy reads ("<i2",
 * "=i2", "i2"), C or Fortran order, rank 1 to 8 and extents from 1. The fault of any other header
 * says what is not supported. Writes little-endian dtypes only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_types.h"
#include "proto/json/fault.h"
#include "proto/wire/tensor_desc.h"

enum {
    NPY_HEADER_MAX = 64 * 1024, /* largest accepted header, in bytes */
    NPY_PREFIX_MAX = 12,        /* bytes that npy_header_size() needs */
    NPY_DESCR_MAX = 8,
    NPY_RANK_MAX = 64, /* NumPy's maximum rank */
    NPY_DTYPE_MAX = 32 /* bytes of a dtype's text */
};

/*
 * The dtypes of tensors. X(name in NumPy, kind, bytes, default element type, exact_max)
 *
 * Kind 'V' has bits without a meaning: NumPy writes types that it does not know, such as bfloat16
 * and the 8-bit floats of ml_dtypes, as "<V2", "|V1" or "<f1". Elements of 8 and 16 bytes move as
 * 2 and 4 parts of 4 bytes, so their type is the type of the parts.
 */
#define DTYPE_TABLE(X)                                                                             \
    X("int8", 'i', 1, MLI_EL_FX_8, INT8_MAX)                                                       \
    X("uint8", 'u', 1, MLI_EL_FX_8, UINT8_MAX)                                                     \
    X("int16", 'i', 2, MLI_EL_FX_16, INT16_MAX)                                                    \
    X("uint16", 'u', 2, MLI_EL_FX_16, UINT16_MAX)                                                  \
    X("int32", 'i', 4, MLI_EL_SA_32, INT32_MAX)                                                    \
    X("uint32", 'u', 4, MLI_EL_SA_32, UINT32_MAX)                                                  \
    X("int64", 'i', 8, MLI_EL_SA_32, INT64_MAX)                                                    \
    X("uint64", 'u', 8, MLI_EL_SA_32, UINT64_MAX)                                                  \
    X("float16", 'f', 2, MLI_EL_FP_16, 1u << 11)                                                   \
    X("float32", 'f', 4, MLI_EL_FP_32, 1u << 24)                                                   \
    X("float64", 'f', 8, MLI_EL_SA_32, UINT64_C(1) << 53)                                          \
    X("complex64", 'c', 8, MLI_EL_SA_32, 1u << 24)                                                 \
    X("complex128", 'c', 16, MLI_EL_SA_32, UINT64_C(1) << 53)                                      \
    X("bool", 'b', 1, MLI_EL_FX_8, 1)                                                              \
    X("void8", 'V', 1, MLI_EL_FX_8, UINT8_MAX)                                                     \
    X("void16", 'V', 2, MLI_EL_FX_16, UINT16_MAX)                                                  \
    X("void32", 'V', 4, MLI_EL_SA_32, UINT32_MAX)                                                  \
    X("void64", 'V', 8, MLI_EL_SA_32, UINT64_MAX)                                                  \
    X("void128", 'V', 16, MLI_EL_SA_32, UINT64_MAX)

struct dtype {
    const char *name; /* name in NumPy: "int16" */
    char kind;        /* as in the dtypes of NumPy: 'b', 'i', 'u', 'f', 'c' or 'V' */
    uint32_t size;    /* bytes of an element */
    mli_element_type type;
    uint64_t exact_max; /* all integers from 0 to exact_max are exact in the dtype */
};

/** The names of all dtypes, null-terminated. */
extern const char *const dtype_words[];
/** Returns the dtype with this index in dtype_words. */
const struct dtype *dtype_at(size_t index);

struct npy_header {
    char descr[NPY_DESCR_MAX]; /* the dtype, such as "<i2" or "|u1"; never ">i2": see big_endian */
    char kind;                 /* kind and size of its dtype */
    uint32_t item_size;
    bool big_endian; /* the elements are big-endian in the file, unlike `descr` */
    bool fortran_order;
    uint32_t rank;
    uint32_t shape[TENSOR_RANK_MAX];
    uint64_t data_offset; /* bytes before the first element */
    uint64_t data_size;   /* size of all elements in bytes */
};

/**
 * Parses the first `length` bytes, at least min(file_size, NPY_HEADER_MAX), of a file of
 * `file_size` bytes. Requires that the file's size is data_offset + data_size. Returns 0, or -1
 * with FAULT_INVALID_PARAMS without a pointer.
 */
int npy_parse(const void *bytes, size_t length, uint64_t file_size, struct npy_header *header,
              struct fault *fault);

/**
 * Reads a dtype, such as "<i2", into descr, kind, item_size and big_endian. Returns 0, or -1 with a
 * fault as npy_parse().
 */
int npy_read_dtype(const char *descr, struct npy_header *header, struct fault *fault);

/** Sets descr, kind and item_size of a header. */
void npy_set_dtype(struct npy_header *header, char kind, uint32_t size);

/**
 * Returns the size of a file's header in bytes from the first NPY_PREFIX_MAX bytes of the file, or
 * 0 if the file is not a .npy file.
 */
size_t npy_header_size(const void *bytes, size_t length);

/* The contents of the header of any .npy file of NumPy. */
struct npy_outline {
    char descr[NPY_DTYPE_MAX]; /* the dtype as written; "structured" for a structured dtype */
    bool fortran_order;
    uint32_t rank;
    uint64_t shape[NPY_RANK_MAX];
};

/**
 * Like npy_parse(), but reads the header of any .npy file of NumPy. Returns the number of bytes
 * before the first element, or 0 with a fault like that of npy_parse().
 */
size_t npy_outline(const void *bytes, size_t length, uint64_t file_size,
                   struct npy_outline *outline, struct fault *fault);

/**
 * Writes a version 1.0 header of `size` bytes, a multiple of 64, for descr, order, rank and shape
 * of *header, and sets header->data_offset to `size`. NPY_FORMAT_SIZE bytes are enough for a tensor
 * of less than 2^64 elements. Returns 0, or -1 if `size` is too small.
 */
int npy_format(struct npy_header *header, void *out, size_t size);

#define NPY_FORMAT_SIZE 128

/**
 * Replaces a big-endian dtype in the bytes of a header that npy_parse() has read, for example ">i2"
 * with "<i2". Changes nothing if the dtype is little-endian.
 */
void npy_make_little(void *bytes, const struct npy_header *header);

/** Returns the dtype of a header; uint8 for kinds and sizes that npy_parse() refuses. */
const struct dtype *dtype_of_header(const struct npy_header *header);

/** Returns the default element type of a dtype: fx8, fx16 or sa32 by size; floats: fp16 or fp32. */
mli_element_type npy_default_type(const struct npy_header *header);

/** Returns the number of parts in which an element moves: 1, or 2 or 4 parts of 4 bytes. */
static inline uint32_t npy_parts(const struct npy_header *header)
{
    return header->item_size > 4 ? header->item_size / 4 : 1;
}

/** Returns whether a tensor moves with other elements or in other dimensions than its own: libmli
 * has elements of up to 4 bytes and up to 4 dimensions. */
static inline bool npy_folds(const struct npy_header *header)
{
    return npy_parts(header) > 1 || header->rank > MLI_MAX_RANK;
}

/**
 * Computes the strides in elements for the header's order. Returns 0, or -1 if a stride exceeds 31
 * bits; for an extent of 1, which needs no stride, such a stride becomes 0.
 */
int npy_strides(const struct npy_header *header, int32_t strides[TENSOR_RANK_MAX]);
