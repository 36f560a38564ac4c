/* SPDX-License-Identifier: BSD-3-Clause */
/* SequenceProto and OptionalProto: several tensors in a file, or none. */
#include <stdio.h>

#include "cli/model/onnx.h"

/* Fields of the messages. */
enum { SEQUENCE_TENSOR = 3, OPTIONAL_TENSOR = 3, OPTIONAL_SEQUENCE = 5 };

static int add_item(struct model *model, struct protobuf message, struct fault *fault)
{
    char name[32];
    const int length = snprintf(name, sizeof(name), "[%zu]", model->tensor_count);
    size_t index;

    if (model_add_tensor(model, name, (size_t)length, true, &index, fault))
        return -1;
    return onnx_read_constant(model, message, index, fault);
}

int onnx_read_items(struct model *model, enum model_kind kind, struct fault *fault)
{
    struct protobuf message = {model->bytes, model->bytes + model->size};
    const uint32_t number = kind == MODEL_OPTIONAL ? OPTIONAL_TENSOR : SEQUENCE_TENSOR;
    struct protobuf_field field;
    int more = 1;

    if (kind == MODEL_OPTIONAL_SEQUENCE) {
        more = onnx_find(message, OPTIONAL_SEQUENCE, &field);
        if (more == 1)
            message = protobuf_inside(&field);
    }
    while (more == 1 && (more = protobuf_next(&message, &field)) == 1) {
        if (field.number == number && field.wire == PROTOBUF_BYTES &&
            add_item(model, protobuf_inside(&field), fault))
            return -1;
    }
    return more < 0 ? onnx_malformed("a sequence of tensors", fault) : 0;
}
