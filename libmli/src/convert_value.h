/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts elements from one number format to another, exactly rounded. */
#ifndef MLI_CONVERT_VALUE_H
#define MLI_CONVERT_VALUE_H

#include <stdint.h>

#include "mli_types.h"

/* real value = (element - zero_point) * scale / 2^frac_bits */
struct number_format {
    mli_element_type type;
    int32_t zero_point, scale, frac_bits; /* fp: 0, 1, 0; the scale is positive */
};

/**
 * Returns the format of a tensor's elements at `index` along the quantised axis, if the tensor has
 * one.
 */
struct number_format format_at(const mli_tensor *tensor, uint32_t index);

/** Converts `count` elements. The steps are in bytes; addresses may be misaligned. */
void convert_row(const struct number_format *from, const struct number_format *to,
                 const uint8_t *src, uint64_t src_step, uint8_t *dst, uint64_t dst_step,
                 uint64_t count);

#endif /* MLI_CONVERT_VALUE_H */
