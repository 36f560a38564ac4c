/* SPDX-License-Identifier: BSD-3-Clause */
/* The quantisation of tensors: QuantizeLinear(x, scale, zero_point) and DequantizeLinear of the
 * same form */
#include <stdlib.h>
#include <string.h>

#include "cli/model/constant.h"
#include "cli/model/onnx.h"

static int quantise(struct model *model, const struct model_node *node, size_t index,
                    struct fault *fault)
{
    const struct model_attribute *axis = model_attribute(node, "axis");
    const bool has_zero = node->input_count > 2 && node->inputs[2] != MODEL_ABSENT;
    struct model_tensor *tensor = &model->tensors[index];
    int64_t dim = axis && axis->kind == MODEL_INT ? axis->i : 1;
    struct model_quant quant = {0};
    int result = 0;

    if (tensor->quant.count > 0)
        return 0;
    quant.scale = model_floats(model, node->inputs[1], &quant.count);
    if (quant.scale && quant.count > 0 && quant.count <= MODEL_SCALES_MAX)
        quant.zero_point = calloc(quant.count, sizeof(*quant.zero_point));
    if (dim < 0)
        dim += tensor->rank;
    quant.axis = quant.count > 1 ? (int32_t)dim : 0;
    if (quant.zero_point && (quant.count == 1 || (dim >= 0 && dim < (int64_t)tensor->rank)) &&
        (!has_zero || model_integers(model, node->inputs[2], quant.zero_point, (int)quant.count) ==
                          (int)quant.count))
        result = model_set_quant(model, tensor, &quant, fault);
    free(quant.scale);
    free(quant.zero_point);
    return result;
}

int onnx_find_quantisation(struct model *model, struct fault *fault)
{
    for (size_t i = 0; i < model->node_count; i++) {
        const struct model_node *node = &model->nodes[i];
        bool to = strcmp(node->op, "QuantizeLinear") == 0;
        bool from = strcmp(node->op, "DequantizeLinear") == 0;
        size_t index = MODEL_ABSENT;

        if ((!to && !from) || node->input_count < 2)
            continue;
        if (to && node->output_count > 0)
            index = node->outputs[0];
        if (from)
            index = node->inputs[0];
        if (index != MODEL_ABSENT && quantise(model, node, index, fault))
            return -1;
    }
    return 0;
}
