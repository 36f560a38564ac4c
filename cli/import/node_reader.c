/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/import/node_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/constant.h"

enum { NAME_SHOWN = 64 };

bool node_refuse(struct node_reader *reader, const char *format, ...)
{
    char *reason = reader->list->reason;
    int length = snprintf(reason, MOVEMENT_REASON_MAX, "%.*s: ", MODEL_WORD_MAX, reader->node->op);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason + length, (size_t)(MOVEMENT_REASON_MAX - length), format, arguments);
    va_end(arguments);
    return false;
}

bool node_has(const struct node_reader *reader, size_t i)
{
    return i < reader->node->input_count && reader->node->inputs[i] != MODEL_ABSENT;
}

/* Operands */

/* Explains why the shape of a tensor is not known. */
static bool refuse_shape(struct node_reader *reader, const struct model_tensor *tensor)
{
    reader->list->unknown = true;
    for (uint32_t d = 0; tensor->has_shape && d < tensor->rank; d++) {
        const struct model_dim *dim = &tensor->dims[d];

        if (dim->extent < 0 && dim->name)
            return node_refuse(reader, "dimension %" PRIu32 " of %.*s is open: give --dim %.*s=N",
                               d, NAME_SHOWN, tensor->name, NAME_SHOWN, dim->name);
        if (dim->extent < 0)
            return node_refuse(reader, "dimension %" PRIu32 " of %.*s is open: give --dim '*=N'", d,
                               NAME_SHOWN, tensor->name);
    }
    return node_refuse(reader, "the model does not have the shape of %.*s", NAME_SHOWN,
                       tensor->name);
}

bool node_shape(struct node_reader *reader, size_t i, uint32_t *rank, uint64_t *shape)
{
    const struct model_tensor *tensor;
    uint64_t bytes;

    if (!node_has(reader, i))
        return node_refuse(reader, "input %zu is missing", i);
    tensor = &reader->model->tensors[reader->node->inputs[i]];
    if (tensor->refusal)
        return node_refuse(reader, "%.*s: %.*s", NAME_SHOWN, tensor->name, 2 * NAME_SHOWN,
                           tensor->refusal);
    if (tensor->kind != MODEL_TENSOR)
        return node_refuse(reader, "%.*s is a sequence: only --data has the number of its tensors",
                           NAME_SHOWN, tensor->name);
    if (!tensor->dtype) {
        reader->list->unknown = true;
        return node_refuse(reader, "the model does not have the type of %.*s", NAME_SHOWN,
                           tensor->name);
    }
    if (tensor->dtype->size == 0 || tensor->dtype->size > MOVEMENT_ELEMENT_MAX)
        return node_refuse(reader, "elements of type %s cannot be moved", tensor->dtype->name);
    if (tensor->has_shape && tensor->rank > MOVEMENT_RANK_MAX)
        return node_refuse(reader, "%.*s has %" PRIu32 " dimensions; at most %d can be moved",
                           NAME_SHOWN, tensor->name, tensor->rank, MOVEMENT_RANK_MAX);
    if (!model_tensor_bytes(tensor, &bytes))
        return refuse_shape(reader, tensor);
    if (bytes == 0)
        return node_refuse(reader, "%.*s has no elements", NAME_SHOWN, tensor->name);
    if (bytes > MOVEMENT_BYTES_MAX)
        return node_refuse(reader,
                           "%.*s has %" PRIu64 " bytes; at most %" PRIu64 " can be compared",
                           NAME_SHOWN, tensor->name, bytes, MOVEMENT_BYTES_MAX);
    *rank = tensor->rank;
    for (uint32_t d = 0; d < tensor->rank; d++)
        shape[d] = (uint64_t)tensor->dims[d].extent;
    return true;
}

struct movement *node_movement(struct node_reader *reader, enum movement_kind kind, size_t i)
{
    struct movement_list *list = reader->list;
    struct movement *more, *movement;
    uint64_t shape[MOVEMENT_RANK_MAX] = {0};
    uint32_t rank;

    if (!node_shape(reader, i, &rank, shape))
        return NULL;
    more = reallocarray(list->movements, list->count + 1, sizeof(*more));
    if (!more) {
        reader->no_memory = true;
        return NULL;
    }
    list->movements = more;
    movement = &more[list->count];
    *movement = (struct movement){.kind = kind, .rank = rank};
    movement->sources = calloc(1, sizeof(*movement->sources));
    if (!movement->sources) {
        reader->no_memory = true;
        return NULL;
    }
    list->count++;
    movement->source_count = 1;
    movement->sources[0].tensor = reader->node->inputs[i];
    memcpy(movement->sources[0].shape, shape, sizeof(shape));
    memcpy(movement->shape, shape, sizeof(shape));
    movement->dtype = reader->model->tensors[reader->node->inputs[i]].dtype;
    return movement;
}

bool node_add_source(struct node_reader *reader, struct movement *movement, size_t i)
{
    struct movement_source *more;
    uint64_t shape[MOVEMENT_RANK_MAX] = {0};
    uint32_t rank = 0;

    if (!node_shape(reader, i, &rank, shape))
        return false;
    if (rank != movement->rank ||
        reader->model->tensors[reader->node->inputs[i]].dtype != movement->dtype)
        return node_refuse(reader, "its inputs have different ranks or types");
    more = reallocarray(movement->sources, movement->source_count + 1, sizeof(*more));
    if (!more) {
        reader->no_memory = true;
        return false;
    }
    movement->sources = more;
    more += movement->source_count++;
    more->tensor = reader->node->inputs[i];
    memcpy(more->shape, shape, sizeof(shape));
    return true;
}

bool node_input_ints(struct node_reader *reader, size_t i, const char *what, struct node_ints *ints)
{
    ints->count = -1;
    if (!node_has(reader, i))
        return node_refuse(reader, "%s is missing", what);
    ints->count =
        model_integers(reader->model, reader->node->inputs[i], ints->values, 2 * MOVEMENT_RANK_MAX);
    return ints->count >= 0 || node_refuse(reader, "%s is not a constant", what);
}

bool node_ints(struct node_reader *reader, size_t i, const char *name, struct node_ints *ints)
{
    const struct model_attribute *attribute = model_attribute(reader->node, name);

    ints->count = -1;
    if (i > 0 && node_has(reader, i))
        return node_input_ints(reader, i, name, ints);
    if (!attribute)
        return true;
    if (attribute->kind != MODEL_INTS || attribute->count > 2 * MOVEMENT_RANK_MAX)
        return node_refuse(reader, "%s is not a list of at most %d integers", name,
                           2 * MOVEMENT_RANK_MAX);
    ints->count = (int)attribute->count;
    for (int k = 0; k < ints->count; k++)
        ints->values[k] = attribute->ints[k];
    return true;
}

int64_t node_int(const struct node_reader *reader, const char *name, int64_t absent)
{
    const struct model_attribute *attribute = model_attribute(reader->node, name);

    return attribute && attribute->kind == MODEL_INT ? attribute->i : absent;
}

bool node_axis(struct node_reader *reader, int64_t axis, uint32_t rank, uint32_t *out)
{
    if (axis < -(int64_t)rank || axis >= (int64_t)rank)
        return node_refuse(reader, "axis %" PRId64 " of %" PRIu32 " dimensions", axis, rank);
    *out = (uint32_t)(axis < 0 ? axis + rank : axis);
    return true;
}

bool node_fill(struct node_reader *reader, struct movement *movement, size_t i)
{
    const struct model_tensor *tensor = &reader->model->tensors[reader->node->inputs[i]];
    const uint8_t *elements = model_elements(reader->model, tensor);

    if (!elements || tensor->dtype != movement->dtype || model_element_count(tensor) != 1)
        return node_refuse(reader, "the value of the border is not a constant of its type");
    memcpy(movement->fill, elements, tensor->dtype->size);
    return true;
}

/* Results */

bool node_declared(const struct node_reader *reader, struct node_ints *shape)
{
    const struct model_tensor *tensor;

    if (reader->node->output_count == 0 || reader->node->outputs[0] == MODEL_ABSENT)
        return false;
    tensor = &reader->model->tensors[reader->node->outputs[0]];
    if (!tensor->has_shape || tensor->rank > MOVEMENT_RANK_MAX)
        return false;
    shape->count = (int)tensor->rank;
    for (uint32_t d = 0; d < tensor->rank; d++) {
        shape->values[d] = tensor->dims[d].extent;
        if (shape->values[d] < 0)
            return false;
    }
    return true;
}

/* Compares the result with the shape in the model, or completes the model. */
static bool settle(struct node_reader *reader, struct model_tensor *tensor,
                   const struct movement *movement)
{
    struct model_dim dims[MOVEMENT_RANK_MAX] = {{0}};
    struct fault fault;
    bool same = tensor->has_shape && tensor->rank == movement->result_rank;

    for (uint32_t d = 0; d < movement->result_rank; d++) {
        dims[d].extent = (int64_t)movement->result[d];
        same = same && (tensor->dims[d].extent < 0 || tensor->dims[d].extent == dims[d].extent);
    }
    if (tensor->has_shape && !same)
        return node_refuse(reader, "the model gives %.*s another shape than its inputs do",
                           NAME_SHOWN, tensor->name);
    if (tensor->dtype && tensor->dtype != movement->dtype)
        return node_refuse(reader, "the model gives %.*s another type than its inputs have",
                           NAME_SHOWN, tensor->name);
    tensor->dtype = movement->dtype;
    if (model_set_shape(tensor, dims, movement->result_rank, &fault))
        reader->no_memory = true;
    return !reader->no_memory;
}

/* Returns whether a shape has `elements` elements. The product of the extents may overflow. */
static bool has_elements(uint32_t rank, const uint64_t *shape, uint64_t elements)
{
    uint64_t product = 1;

    for (uint32_t d = 0; d < rank; d++) {
        if (__builtin_mul_overflow(product, shape[d], &product))
            return false;
    }
    return product == elements;
}

bool node_result(struct node_reader *reader, struct movement *movement, size_t i, uint32_t rank,
                 const uint64_t *result)
{
    uint64_t bytes = movement->dtype->size;

    for (uint32_t d = 0; d < movement->rank; d++) {
        if (movement->shape[d] == 0)
            return node_refuse(reader, "its result has no elements");
        if (__builtin_mul_overflow(bytes, movement->shape[d], &bytes) || bytes > MOVEMENT_BYTES_MAX)
            return node_refuse(reader, "its result has more than %" PRIu64 " bytes",
                               MOVEMENT_BYTES_MAX);
    }
    if (i >= reader->node->output_count || reader->node->outputs[i] == MODEL_ABSENT)
        return node_refuse(reader, "output %zu is missing", i);
    if (rank > MOVEMENT_RANK_MAX)
        return node_refuse(reader, "its result has %" PRIu32 " dimensions; at most %d can be moved",
                           rank, MOVEMENT_RANK_MAX);
    if (!has_elements(rank, result, movement_elements(movement->rank, movement->shape)))
        return node_refuse(reader, "its result does not have the elements of its source");
    movement->output = reader->node->outputs[i];
    movement->result_rank = rank;
    memmove(movement->result, result, rank * sizeof(*result));
    return settle(reader, &reader->model->tensors[movement->output], movement);
}

bool node_result_same(struct node_reader *reader, struct movement *movement, size_t i)
{
    return node_result(reader, movement, i, movement->rank, movement->shape);
}
