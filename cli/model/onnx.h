/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ONNX models, and files of one value (.pb): a tensor, or a sequence of tensors. The numbers of
 * fields and types are those of onnx.proto
 * (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).
 */
#ifndef CLI_MODEL_ONNX_H
#define CLI_MODEL_ONNX_H

#include "cli/model/model.h"
#include "cli/model/protobuf.h"

/** Reads the graph of a ModelProto; see model_read(). The model may be incomplete on failure. */
int onnx_read(struct model *model, struct fault *fault);
/** Reads a TensorProto as a model of one constant; its name may be missing in the file. */
int onnx_read_tensor_file(struct model *model, struct fault *fault);
/** Reads the tensors of a SequenceProto or OptionalProto as constants "[0]", "[1]", ... */
int onnx_read_items(struct model *model, enum model_kind kind, struct fault *fault);

/* Private to the reader of ONNX. */

/** Finds the last field `number` with bytes. Returns 1, 0 if no field has this number, or -1. */
int onnx_find(struct protobuf message, uint32_t number, struct protobuf_field *found);
/**
 * Makes the tensor `index`, or, if it is MODEL_ABSENT, the tensor with the name in the message, a
 * constant with the type, shape and elements of a TensorProto.
 */
int onnx_read_constant(struct model *model, struct protobuf message, size_t index,
                       struct fault *fault);
/** Makes a tensor a constant of `count` integers (int64) in one dimension, or a scalar. */
int onnx_set_integers(struct model_tensor *tensor, const int64_t *values, size_t count, bool scalar,
                      struct fault *fault);
/** Returns the type with the number of TensorProto.DataType; null: undefined. */
const struct model_dtype *onnx_dtype(uint64_t number);
/** Sets the quantisation of the tensors that QuantizeLinear and DequantizeLinear name. */
int onnx_find_quantisation(struct model *model, struct fault *fault);
int onnx_malformed(const char *what, struct fault *fault);

#endif /* CLI_MODEL_ONNX_H */
