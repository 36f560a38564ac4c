/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/import/given.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/file/text.h"
#include "cli/import/movement.h"

/* A file of one value, and its tensors. */
struct given {
    struct text text;
    struct model model;
    bool read;
};

static void given_finish(struct given *given)
{
    if (given->read)
        model_finish(&given->model);
    text_finish(&given->text);
}

/*
 * Reads the file of value `number` of the graph, which is of this kind. Returns 1, 0 if it does not
 * exist, or -1. Call given_finish() in all cases.
 */
static int given_init(struct given *given, const char *directory, const char *side, size_t number,
                      enum model_kind kind, struct fault *fault)
{
    char *path = NULL;
    struct fault why;
    int result = 0;

    *given = (struct given){0};
    if (asprintf(&path, "%s/%s_%zu.pb", directory, side, number) < 0)
        return fault_no_memory(fault);
    if (access(path, F_OK) == 0) {
        given->read = text_load(&given->text, path, (size_t)MOVEMENT_BYTES_MAX, true, &why) == 0 &&
                      model_read_value(&given->model, kind, (const uint8_t *)given->text.bytes,
                                       given->text.length, &why) == 0;
        result = given->read ? 1 : fault_set(fault, why.code, NULL, "%s: %s", path, why.text);
    }
    free(path);
    return result;
}

/* Copies type, shape and elements of a tensor. The caller owns the elements. */
static uint8_t *copy(struct model_tensor *to, const struct given *given, size_t number,
                     struct fault *fault)
{
    const struct model_tensor *from = &given->model.tensors[number];
    const uint8_t *elements = model_elements(&given->model, from);
    uint8_t *memory;

    if (!elements) {
        fault_set(fault, FAULT_INVALID_PARAMS, NULL, "the test data of %.*s: %s", MODEL_WORD_MAX,
                  to->name, from->refusal ? from->refusal : "it has no elements in the file");
        return NULL;
    }
    memory = malloc((size_t)from->bytes + 1);
    if (!memory || model_set_shape(to, from->dims, from->rank, fault)) {
        free(memory);
        fault_no_memory(fault);
        return NULL;
    }
    memcpy(memory, elements, (size_t)from->bytes);
    to->dtype = from->dtype;
    return memory;
}

/* Makes a tensor of the model a constant. */
static int set_constant(struct model_tensor *to, const struct given *given, size_t number,
                        struct fault *fault)
{
    uint8_t *memory = copy(to, given, number, fault);

    if (!memory)
        return -1;
    free(to->memory);
    to->memory = memory;
    to->bytes = given->model.tensors[number].bytes;
    to->place = MODEL_IN_MEMORY;
    return 0;
}

/* Adds `count` tensors to the model as the items of a sequence. */
static int add_items(struct model *model, size_t sequence, size_t count, struct fault *fault)
{
    const size_t first = model->tensor_count;
    size_t index;

    for (size_t k = 0; k < count; k++) {
        char *name = NULL;
        const int length = asprintf(&name, "%s[%zu]", model->tensors[sequence].name, k);
        const int result = length < 0
                               ? fault_no_memory(fault)
                               : model_add_tensor(model, name, (size_t)length, true, &index, fault);

        if (length >= 0)
            free(name);
        if (result)
            return -1;
    }
    model->tensors[sequence].first = first;
    model->tensors[sequence].item_count = count;
    return 0;
}

/* Reads one input. Returns the number of its tensors, or -1. */
static int read_input(struct model *model, const char *directory, size_t number,
                      struct fault *fault)
{
    const size_t index = model->inputs[number];
    const enum model_kind kind = model->tensors[index].kind;
    struct given given;
    int result = given_init(&given, directory, "input", number, kind, fault);
    const size_t count = result == 1 ? given.model.tensor_count : 0;

    if (result == 1 && kind != MODEL_TENSOR && add_items(model, index, count, fault))
        result = -1;
    for (size_t k = 0; result == 1 && k < count; k++) {
        const size_t to = kind == MODEL_TENSOR ? index : model->tensors[index].first + k;

        if (set_constant(&model->tensors[to], &given, k, fault))
            result = -1;
    }
    given_finish(&given);
    return result < 0 ? -1 : (int)count;
}

static bool is_sequence(const struct model *model, size_t tensor)
{
    return tensor != MODEL_ABSENT && model->tensors[tensor].kind != MODEL_TENSOR;
}

/* Replaces a list of one sequence by the list of its items. */
static int list_items(const struct model *model, size_t **list, size_t *count, size_t sequence)
{
    const struct model_tensor *tensor = &model->tensors[sequence];

    *count = 0;
    for (size_t k = 0; k < tensor->item_count; k++) {
        if (model_push(list, count, tensor->first + k))
            return -1;
    }
    return 0;
}

/* Has a node Identity copy the items of its sequence, if they are known. */
static int copy_items(struct model *model, struct model_node *node, struct fault *fault)
{
    size_t from, to;

    if (strcmp(node->op, "Identity") != 0 || node->input_count != 1 || node->output_count != 1)
        return 0;
    from = node->inputs[0];
    to = node->outputs[0];
    if (!is_sequence(model, from) || to == MODEL_ABSENT || model->tensors[from].item_count == 0 ||
        model->tensors[to].item_count > 0)
        return 0;
    model->tensors[to].kind = model->tensors[from].kind;
    if (add_items(model, to, model->tensors[from].item_count, fault))
        return -1;
    return list_items(model, &node->inputs, &node->input_count, from) ||
                   list_items(model, &node->outputs, &node->output_count, to)
               ? fault_no_memory(fault)
               : 0;
}

/* Adds the items of the sequences among the outputs of the graph to these outputs. */
static int list_outputs(struct model *model, struct fault *fault)
{
    const size_t count = model->output_count;

    for (size_t i = 0; i < count; i++) {
        const size_t output = model->outputs[i];

        for (size_t k = 0; is_sequence(model, output) && k < model->tensors[output].item_count;
             k++) {
            if (model_push(&model->outputs, &model->output_count, model->tensors[output].first + k))
                return fault_no_memory(fault);
        }
    }
    return 0;
}

int given_inputs(struct model *model, const char *directory, size_t *count, struct fault *fault)
{
    *count = 0;
    for (size_t i = 0; i < model->input_count; i++) {
        const int read =
            model->inputs[i] == MODEL_ABSENT ? 0 : read_input(model, directory, i, fault);

        if (read < 0)
            return -1;
        *count += (size_t)read;
    }
    for (size_t i = 0; i < model->node_count; i++) {
        if (copy_items(model, &model->nodes[i], fault))
            return -1;
    }
    return list_outputs(model, fault);
}

/* Reads one output. Returns the number of its tensors, or -1. */
static int read_output(struct element_store *store, const char *directory, size_t number,
                       struct fault *fault)
{
    struct model *model = store->model;
    const size_t index = model->outputs[number];
    const enum model_kind kind = model->tensors[index].kind;
    struct given given;
    int result = given_init(&given, directory, "output", number, kind, fault);
    size_t count = result == 1 ? given.model.tensor_count : 0;

    if (kind != MODEL_TENSOR && count != model->tensors[index].item_count)
        count = 0; /* no node copies this sequence */
    for (size_t k = 0; result == 1 && k < count; k++) {
        const size_t to = kind == MODEL_TENSOR ? index : model->tensors[index].first + k;
        uint8_t *memory = copy(&model->tensors[to], &given, k, fault);

        free(store->expected[to]);
        store->expected[to] = memory;
        result = memory ? 1 : -1;
    }
    given_finish(&given);
    return result < 0 ? -1 : (int)count;
}

int given_outputs(struct element_store *store, const char *directory, size_t *count,
                  struct fault *fault)
{
    const struct model *model = store->model;

    *count = 0;
    for (size_t i = 0; i < model->output_count; i++) {
        const int read =
            model->outputs[i] == MODEL_ABSENT ? 0 : read_output(store, directory, i, fault);

        if (read < 0)
            return -1;
        *count += (size_t)read;
    }
    return 0;
}
