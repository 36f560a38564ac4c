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
/** Returns the type with the number of TensorProto.DataType; null: undefined. */
const struct model_dtype *onnx_dtype(uint64_t number);

#endif /* CLI_MODEL_ONNX_H */
