/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of one tensor: checks, and values in 64 bits. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libmli/src/builtins.h"
#include "libmli/src/error.h"
#include "mli_types.h"

/** Returns the size of an element in bytes; 0 for an unsupported or unknown type. */
uint32_t element_bytes(mli_element_type type);

/** Returns the size in bytes of an element of a type that tensor_check() has accepted. */
static inline uint32_t known_element_bytes(mli_element_type type)
{
    return ((uint32_t)type & 0xff) / 8; /* the low byte is the element's size in bits */
}

/** Checks pointer, rank, element type, shape and strides of a tensor called `who` in messages. */
mli_status tensor_check(const mli_tensor *tensor, const char *who);

/**
 * Fills in the strides in force, in elements, of a tensor called `who` in messages: `given`, or if
 * that is 0 the next inner stride times its extent. MLI_STATUS_NOT_ENGH_MEM: a stride exceeds 31
 * bits. For an extent of 1, which needs no stride, a stride above 31 bits becomes 0.
 */
mli_status strides_of(const char *who, uint32_t rank, const uint32_t *shape, const int32_t *given,
                      int32_t *stride);

/**
 * Returns the stride in force of one dimension. Call it from the innermost dimension outwards.
 * *packed is the stride to use if `given` is 0. It begins with 1 and becomes the packed stride of
 * the next outer dimension, or 0 if that exceeds 64 bits.
 */
static inline uint64_t next_stride(uint64_t *packed, uint32_t shape, int32_t given)
{
    const uint64_t stride = given ? (uint64_t)given : *packed;

    if (!checked_mul(stride, shape, packed))
        *packed = 0;
    return stride;
}

static inline uint8_t *tensor_bytes(const mli_tensor *tensor)
{
    return (uint8_t *)tensor->data.mem.pi8;
}

/** Checks that the data pointer is not null (any member of the union: they share the address). */
static inline mli_status tensor_check_data(const mli_tensor *tensor, const char *who)
{
    if (!tensor_bytes(tensor))
        return refuse(MLI_STATUS_BAD_TENSOR, who, ".data.mem: null given; a buffer is required");
    return MLI_STATUS_OK;
}

/**
 * Returns whether the first `end` bytes of a tensor are inside its capacity and the address space.
 */
static inline bool tensor_has(const mli_tensor *tensor, uint64_t end)
{
    return end <= tensor->data.capacity && fits_address_space(tensor_bytes(tensor), end);
}

/** Refuses a tensor, called `who` in messages, that does not have the first `end` bytes. */
ERROR_COLD mli_status tensor_refuse_end(const char *who, uint64_t capacity, uint64_t end);

/** Returns whether the tensor has one set of quantisation parameters per index of `sa.dim`. */
static inline bool tensor_is_per_axis(const mli_tensor *tensor)
{
    return (tensor->el_type == MLI_EL_SA_8 || tensor->el_type == MLI_EL_SA_32) &&
           tensor->el_params.sa.dim >= 0;
}
