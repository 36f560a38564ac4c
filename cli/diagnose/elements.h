/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of a mapped tensor, by coordinate and by index in C order, as words of bits. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/tensor/dtype.h"
#include "mli_types.h"

struct elements {
    const uint8_t *data; /* address of the first element; elements are little-endian */
    const struct dtype *dtype;
    uint32_t rank; /* 0: there is no tensor */
    uint32_t shape[TENSOR_RANK_MAX];
    int32_t strides[TENSOR_RANK_MAX]; /* in elements */
};

/** Returns the number of elements. */
uint64_t elements_count(const struct elements *elements);

/** Returns the address of the element at a coordinate. */
const uint8_t *elements_at(const struct elements *elements, const uint32_t *at);

/** Returns the bits of the element at a coordinate. */
uint32_t elements_word(const struct elements *elements, const uint32_t *at);

/** Returns the index in C order of a coordinate. */
uint64_t elements_index(const struct elements *elements, const uint32_t *at);

/** Computes the coordinate of an index in C order; dimensions beyond the rank become 0. */
void elements_place(const struct elements *elements, uint64_t index, uint32_t at[MLI_MAX_RANK]);

/**
 * Advances a coordinate in C order. After the last coordinate, sets it to zeros and returns false.
 */
bool elements_next(const struct elements *elements, uint32_t *at);

/**
 * Returns the index of sample `i` of `samples` among `count` elements, from 0, in ascending order.
 * The distances vary, so that samples are not all in one column.
 */
uint64_t elements_sample(uint64_t count, uint32_t samples, uint32_t i);
