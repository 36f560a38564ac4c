/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tensors of a model in .npy files: with at most 4 dimensions and elements of 1, 2
 * or 4 bytes. Elements of 8 bytes become two of 4 along the last dimension; the first dimensions of
 * a higher rank become one; a scalar has one dimension. Elements keep their order.
 */
#ifndef CLI_IMPORT_STORED_H
#define CLI_IMPORT_STORED_H

#include "cli/model/model.h"
#include "cli/tensor/dtype.h"
#include "proto/file/npy.h"

/** Fills the header of the .npy file for a tensor of at least one element. */
void stored_header(const struct model_dtype *dtype, uint32_t rank, const uint64_t *shape,
                   struct npy_header *header);

/** Returns whether the file has the type and the shape of the tensor. */
bool stored_as_is(const struct model_dtype *dtype, uint32_t rank);

/**
 * Fills elements with their positions, or, if a dtype has fewer values than the tensor has
 * elements, with random values from a seed.
 */
void stored_generate(const struct npy_header *header, uint64_t seed, uint8_t *elements);

#endif /* CLI_IMPORT_STORED_H */
