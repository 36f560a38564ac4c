/* SPDX-License-Identifier: BSD-3-Clause */
/* The constants of a model (.onnx, .tflite, .pb) as tensors of an archive. */
#ifndef CLI_MODEL_CONSTANTS_H
#define CLI_MODEL_CONSTANTS_H

#include <stdint.h>

#include "proto/file/tensor_list.h"
#include "proto/file/tensor_spec.h"
#include "proto/json/fault.h"

struct model_constants;

/**
 * Reads the model in a regular file of `size` bytes, and fills *list with its constants, sorted.
 * The caller keeps the descriptor. Returns null, with the fault set and an empty list, if it fails.
 * Faults do not name the file.
 */
struct model_constants *model_constants_open(int fd, uint64_t size, enum file_format format,
                                             struct tensor_list *list, struct fault *fault);
void model_constants_close(struct model_constants *constants);

/**
 * Sets *fd to -1 if the elements of entry `index` are in the file of the model, else to a new
 * descriptor of a file in memory with the decoded elements from byte 0 on. Returns 0, or -1 with
 * the fault.
 */
int model_constants_extract(const struct model_constants *constants, size_t index, int *fd,
                            struct fault *fault);

#endif /* CLI_MODEL_CONSTANTS_H */
