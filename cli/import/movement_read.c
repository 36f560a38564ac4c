/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads nodes. Completes shapes and types that the model lacks, for operators that compute. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/movement.h"
#include "cli/import/node_reader.h"
#include "cli/model/model.h"

/* Operators of ONNX whose result has the shape of the first input. */
static const char unary[] =
    "Abs BatchNormalization Cast Ceil Celu Clip Cos DequantizeLinear Dropout Elu Erf "
    "Exp Floor Gelu HardSigmoid HardSwish InstanceNormalization LayerNormalization "
    "LeakyRelu Log LogSoftmax Mish Neg Not PRelu QuantizeLinear Reciprocal Relu Round "
    "Selu Sigmoid Sign Sin Softmax Softplus Softsign Sqrt Tanh ThresholdedRelu";

/* Operators whose result has the common shape of all inputs, by NumPy's rules of broadcasting. */
static const char broadcasting[] = "Add Div Max Mean Min Mod Mul Pow Sub Sum";

/* Returns whether a list of words, separated by spaces, contains a word. */
static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);

    for (size_t size; *words; words += size + (words[size] == ' ')) {
        size = strcspn(words, " ");
        if (size == length && memcmp(words, word, size) == 0)
            return true;
    }
    return false;
}

static const struct model_tensor *input(const struct model *model, const struct model_node *node,
                                        size_t at)
{
    return at < node->input_count && node->inputs[at] != MODEL_ABSENT
               ? &model->tensors[node->inputs[at]]
               : NULL;
}

/* Returns the type of the result, or null if it is not known. */
static const struct model_dtype *type_of(const struct model *model, const struct model_node *node)
{
    const struct model_tensor *of = input(model, node, 0);

    if (strcmp(node->op, "Cast") == 0) {
        const struct model_attribute *to = model_attribute(node, "to");

        return to && to->kind == MODEL_INT && to->i >= 0 ? onnx_dtype((uint64_t)to->i) : NULL;
    }
    if (strcmp(node->op, "DequantizeLinear") == 0)
        of = input(model, node, 1);
    if (strcmp(node->op, "QuantizeLinear") == 0) {
        of = input(model, node, 2);
        if (!of)
            return model_dtype(MODEL_UINT8);
    }
    return of ? of->dtype : NULL;
}

/* Broadcasts the shape in the last entries of common[] with the shape of an input. Returns false
 * if an extent of the input is open or does not match. */
static bool add_shape(struct model_dim common[MODEL_RANK_MAX], uint32_t *rank,
                      const struct model_tensor *tensor)
{
    if (!tensor || !tensor->has_shape)
        return false;
    for (uint32_t d = 0; d < tensor->rank; d++) {
        struct model_dim *dim = &common[MODEL_RANK_MAX - tensor->rank + d];
        const int64_t extent = tensor->dims[d].extent;

        if (extent < 0 || (extent != 1 && dim->extent != 1 && extent != dim->extent))
            return false;
        if (extent != 1)
            dim->extent = extent;
    }
    *rank = tensor->rank > *rank ? tensor->rank : *rank;
    return true;
}

static int broadcast(const struct model *model, const struct model_node *node,
                     struct model_tensor *to)
{
    struct model_dim common[MODEL_RANK_MAX];
    struct fault fault;
    uint32_t rank = 0;

    for (size_t d = 0; d < MODEL_RANK_MAX; d++)
        common[d] = (struct model_dim){.extent = 1};
    for (size_t i = 0; i < node->input_count; i++) {
        if (!add_shape(common, &rank, input(model, node, i)))
            return 0;
    }
    return model_set_shape(to, common + MODEL_RANK_MAX - rank, rank, &fault);
}

/*
 * Sets the shape and the type of the first output of an elementwise node: a node that reads this
 * output may be one that moves data. Does nothing for other operators, or if the model has the
 * shape. Returns 0, or -1 if out of memory.
 */
static int inference_complete(struct model *model, const struct model_node *node)
{
    const struct model_tensor *from = input(model, node, 0);
    const bool same = has_word(unary, node->op);
    struct model_tensor *to;
    struct fault fault;

    if ((!same && !has_word(broadcasting, node->op)) || !from || node->output_count == 0 ||
        node->outputs[0] == MODEL_ABSENT)
        return 0;
    to = &model->tensors[node->outputs[0]];
    if (to->has_shape || from == to)
        return 0;
    if (!to->dtype)
        to->dtype = type_of(model, node);
    if (!same)
        return broadcast(model, node, to);
    return from->has_shape ? model_set_shape(to, from->dims, from->rank, &fault) : 0;
}

/* Operators that run other graphs of the model; these graphs are not read. */
static const char bodies[] = "If Loop Scan IF WHILE CALL CALL_ONCE";

void movement_list_finish(struct movement_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->movements[i].sources);
    free(list->movements);
    *list = (struct movement_list){0};
}

/* Returns whether the operator belongs to the standard operators of the format. */
static bool is_own(const struct model_node *node)
{
    return !node->domain || !*node->domain || strcmp(node->domain, "ai.onnx") == 0;
}

int movement_read(struct model *model, const struct model_node *node, struct movement_list *list)
{
    const struct node_operator *operator= model->format == FILE_FORMAT_TFLITE ? tflite_operators
                                                                              : onnx_operators;
    struct node_reader reader = {.model = model, .node = node, .list = list};
    bool read = false;

    *list = (struct movement_list){0};
    while (operator->name &&(strcmp(operator->name, node->op) != 0 || !is_own(node)))
        operator++;
    if (!operator->name) {
        snprintf(list->reason, sizeof(list->reason), "%.*s: %s", MODEL_WORD_MAX,
                 *node->op ? node->op : "a node without an operator",
                 has_word(bodies, node->op) ? "its graphs are not read" : "it does not move data");
        return inference_complete(model, node);
    }
    read = operator->read(&reader);
    if (read && list->count == 0)
        read = node_refuse(&reader, "it has no output");
    if (!read) { /* a case has all movements of a node, or the node has no case */
        for (size_t i = 0; i < list->count; i++)
            free(list->movements[i].sources);
        list->count = 0;
    }
    return reader.no_memory ? -1 : 0;
}
