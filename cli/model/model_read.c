/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/model/model.h"

/* Checks the constants after a reader has returned `result`. On failure, finishes the model. */
static int complete(struct model *model, int result, struct fault *fault)
{
    if (result == 0)
        result = model_check_constants(model, fault);
    if (result)
        model_finish(model);
    return result;
}

int model_read_value(struct model *model, enum model_kind kind, const uint8_t *bytes, uint64_t size,
                     struct fault *fault)
{
    *model = (struct model){.format = FILE_FORMAT_PB, .bytes = bytes, .size = size};
    return complete(model,
                    kind == MODEL_TENSOR ? onnx_read_tensor_file(model, fault)
                                         : onnx_read_items(model, kind, fault),
                    fault);
}

int model_read(struct model *model, enum file_format format, const uint8_t *bytes, uint64_t size,
               struct fault *fault)
{
    if (format == FILE_FORMAT_PB)
        return model_read_value(model, MODEL_TENSOR, bytes, size, fault);
    *model = (struct model){.format = format, .bytes = bytes, .size = size};
    return complete(
        model, format == FILE_FORMAT_TFLITE ? tflite_read(model, fault) : onnx_read(model, fault),
        fault);
}
