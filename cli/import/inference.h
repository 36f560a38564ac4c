/* SPDX-License-Identifier: BSD-3-Clause */
/* Shapes and types of results of operators that compute something, for models without them. */
#ifndef CLI_IMPORT_INFERENCE_H
#define CLI_IMPORT_INFERENCE_H

#include "cli/model/model.h"

/**
 * Completes the shape and the type of the first output of a node, if its operator computes each
 * element from elements of its inputs: the nodes behind it may move data. Does nothing for other
 * operators, or if the model has the shape.
 * Returns 0, or -1 (no memory).
 */
int inference_complete(struct model *model, const struct model_node *node);

#endif /* CLI_IMPORT_INFERENCE_H */
