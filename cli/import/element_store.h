/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of a model's tensors while a case is made: constants, given files, generated values
 * and results of movements. */
#pragma once

#include "cli/model/model.h"
#include "cli/tensor/dtype.h"
#include "proto/file/npy.h"

/*
 * The .npy file of a tensor has 1 to 4 dimensions, and elements of 1, 2 or 4 bytes in the tensor's
 * order. An element of 8 bytes becomes two elements along the last dimension; the first dimensions
 * of a tensor with a higher rank are merged into one; a scalar has one dimension.
 */

/** Fills the header of the .npy file for a tensor of at least one element. */
void stored_header(const struct model_dtype *dtype, uint32_t rank, const uint64_t *shape,
                   struct npy_header *header);

/** Returns whether the .npy file of a tensor has the type and the shape of the tensor. */
bool stored_as_is(const struct model_dtype *dtype, uint32_t rank);

struct element_store {
    struct model *model;
    const char *path;   /* path of the model: files of external constants are in its directory */
    uint8_t **owned;    /* by tensor: elements in memory, or null */
    uint8_t **expected; /* by tensor: elements of an output_N.pb, or null */
    size_t *held;       /* tensors with elements in `owned` */
    size_t held_count;
};

int element_store_init(struct element_store *store, struct model *model, const char *path,
                       struct fault *fault);
void element_store_finish(struct element_store *store);

/** Returns the elements of a tensor; generates them if the tensor has none. Null: see *fault. */
const uint8_t *element_store_get(struct element_store *store, size_t tensor, struct fault *fault);

/** Gives a tensor its computed elements. The store owns them from now on, even on failure. */
int element_store_put(struct element_store *store, size_t tensor, uint8_t *elements,
                      struct fault *fault);

/** Frees all elements except those of the model and of given files. */
void element_store_forget(struct element_store *store);
