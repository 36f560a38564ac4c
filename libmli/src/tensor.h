/* SPDX-License-Identifier: BSD-3-Clause */
/* What one tensor's fields say, checked, in 64 bits. */
#ifndef MLI_TENSOR_H
#define MLI_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "mli_types.h"

/** Bytes of an element, 0 for an unsupported or unknown type. */
uint32_t element_bytes(mli_element_type type);

/** Checks pointer, rank, element type, shape and strides of a tensor called `who` in messages. */
mli_status tensor_check(const mli_tensor *tensor, const char *who);

/** Checks that there is memory at all (any union member: they share the address). */
mli_status tensor_check_data(const mli_tensor *tensor, const char *who);

/** Strides of `rank` dimensions in elements, packed where `given` is 0. False on overflow. */
bool strides_of(uint32_t rank, const uint32_t *shape, const int32_t *given, uint64_t *stride);

static inline uint8_t *tensor_bytes(const mli_tensor *tensor)
{
    return (uint8_t *)tensor->data.mem.pi8;
}

/** True where the tensor has one set of quantisation parameters per index of `sa.dim`. */
static inline bool tensor_is_per_axis(const mli_tensor *tensor)
{
    return (tensor->el_type == MLI_EL_SA_8 || tensor->el_type == MLI_EL_SA_32) &&
           tensor->el_params.sa.dim >= 0;
}

#endif /* MLI_TENSOR_H */
