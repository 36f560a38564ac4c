/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Headers of .npy files, versions 1.0, 2.0 and 3.0: bytes in, plain data out, and back. Little
 * endian and single-byte dtypes of 1, 2 or 4 bytes (b1 i1 u1 i2 u2 f2 i4 u4 f4), C or Fortran
 * order, rank 1 to 4, no extent of 0. Everything else is refused with a sentence.
 */
#ifndef PROTO_NPY_H
#define PROTO_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_types.h"
#include "proto/json/fault.h"

struct tensor_entry;

enum {
    NPY_HEADER_MAX = 64 * 1024, /* bytes of a header we are willing to read */
    NPY_PREFIX_MAX = 12,        /* bytes that tell how long the header is */
    NPY_DESCR_MAX = 8
};

struct npy_header {
    char descr[NPY_DESCR_MAX]; /* as "<i2" or "|u1" */
    char kind;                 /* 'b', 'i', 'u' or 'f' */
    uint32_t item_size;        /* 1, 2 or 4 */
    bool fortran_order;
    uint32_t rank;
    uint32_t shape[MLI_MAX_RANK];
    uint64_t data_offset; /* bytes before the first element */
    uint64_t data_size;   /* bytes of all elements */
};

/**
 * Parses the first `length` bytes of a file of `file_size` bytes (min(file_size, NPY_HEADER_MAX)
 * of them must be given). Also refuses a file whose size is not data_offset + data_size.
 * Fault code FAULT_INVALID_PARAMS, no pointer. Returns 0 or -1.
 */
int npy_parse(const void *bytes, size_t length, uint64_t file_size, struct npy_header *header,
              struct fault *fault);

/**
 * How many bytes of a file its header takes, as its first NPY_PREFIX_MAX bytes tell; 0 where they
 * are none of a .npy file.
 */
size_t npy_header_size(const void *bytes, size_t length);

/**
 * The same bytes, of any .npy file that NumPy may have written, as an entry of a list: dtype,
 * shape, bytes, and `header` or a refusal (then only its data_offset is filled). Faults as
 * npy_parse(), or FAULT_INTERNAL. Returns 0 or -1.
 */
int npy_outline(const void *bytes, size_t length, uint64_t file_size, struct tensor_entry *entry,
                struct fault *fault);

/**
 * Writes a version 1.0 header of exactly `size` bytes (a multiple of 64 that holds it; 128 always
 * does) for descr, order, rank and shape of *header, data_offset becoming `size`.
 * Returns 0, or -1 where it does not fit.
 */
int npy_format(struct npy_header *header, void *out, size_t size);

/** Bytes that npy_format() needs for any header of ours. */
#define NPY_FORMAT_SIZE 128

/** Element type that a dtype stands for when nobody says otherwise: by size fx8, fx16, sa32, and
 *  fp16, fp32 for floats. */
mli_element_type npy_default_type(const struct npy_header *header);

/** Strides in elements of the header's order, for an mli_tensor; -1 where they exceed 31 bits. */
int npy_strides(const struct npy_header *header, int32_t strides[MLI_MAX_RANK]);

#endif /* PROTO_NPY_H */
