/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of small constants, such as the permutation of a transpose. */
#ifndef CLI_MODEL_CONSTANT_H
#define CLI_MODEL_CONSTANT_H

#include "cli/model/model.h"

/**
 * Copies the elements of an integer constant to `out`. Returns their number, or -1 if the tensor is
 * no constant of an integer type, or has more than `max` elements.
 */
int model_integers(const struct model *model, size_t tensor, int64_t *out, int max);

/**
 * Copies the elements of a float32 constant to a new array, which the caller frees. Returns null,
 * with *count 0, if the tensor is no such constant, or if there is no memory.
 */
float *model_floats(const struct model *model, size_t tensor, uint32_t *count);

/** Returns the number of elements of a constant of `bytes` bytes. */
uint64_t model_element_count(const struct model_tensor *tensor);

/** Returns element i of a constant with an integer type of up to 8 bytes. */
int64_t model_integer_at(const struct model_tensor *tensor, const uint8_t *elements, uint64_t i);

#endif /* CLI_MODEL_CONSTANT_H */
