/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The test data of an ONNX model: files input_N.pb and output_N.pb for the inputs and outputs of
 * its graph. Missing files are no error.
 *
 * A sequence of tensors has no length in the model. Its file has: the sequence NAME becomes the
 * tensors NAME[0], NAME[1], ..., and a node Identity of it copies each of them.
 */
#ifndef CLI_IMPORT_GIVEN_H
#define CLI_IMPORT_GIVEN_H

#include "cli/import/element_store.h"

/**
 * Makes the inputs of the graph constants, and adds the tensors of its sequences to the model. Sets
 * *count to the number of tensors that were read. Returns 0, or -1 with a fault that names the
 * file.
 */
int given_inputs(struct model *model, const char *directory, size_t *count, struct fault *fault);

/** Sets the expected elements of the outputs of the graph, after given_inputs(). */
int given_outputs(struct element_store *store, const char *directory, size_t *count,
                  struct fault *fault);

#endif /* CLI_IMPORT_GIVEN_H */
