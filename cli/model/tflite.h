/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TensorFlow Lite models: FlatBuffers with the identifier TFL3. The ids of fields, operators and
 * types are those of version 3 of the schema
 * (https://github.com/tensorflow/tflite-micro/blob/main/tensorflow/lite/schema/schema.fbs).
 */
#ifndef CLI_MODEL_TFLITE_H
#define CLI_MODEL_TFLITE_H

#include "cli/model/flatbuffer.h"
#include "cli/model/model.h"

/**
 * Reads the first subgraph, which is the main one; see model_read(). Names of tensors become
 * unique. The model may be incomplete on failure.
 */
int tflite_read(struct model *model, struct fault *fault);

#endif /* CLI_MODEL_TFLITE_H */
