/* SPDX-License-Identifier: BSD-3-Clause */
/* ModelProto: the graph of an ONNX model. */
#include "cli/model/onnx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fields of the messages. */
enum {
    MODEL_GRAPH = 7,
    MODEL_OPSET = 8,
    OPSET_DOMAIN = 1,
    OPSET_VERSION = 2,
    GRAPH_NODE = 1,
    GRAPH_INITIALIZER = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    GRAPH_VALUE = 13,
    VALUE_NAME = 1,
    VALUE_TYPE = 2,
    TYPE_TENSOR = 1,
    TYPE_SEQUENCE = 4,
    TYPE_OPTIONAL = 9,
    TYPE_OF_ITEMS = 1,
    TYPE_ELEMENT = 1,
    TYPE_SHAPE = 2,
    SHAPE_DIM = 1,
    DIM_EXTENT = 1,
    DIM_NAME = 2,
    NODE_INPUT = 1,
    NODE_OUTPUT = 2,
    NODE_NAME = 3,
    NODE_OP = 4,
    NODE_ATTRIBUTE = 5,
    NODE_DOMAIN = 7,
    ATTRIBUTE_NAME = 1,
    ATTRIBUTE_FLOAT = 2,
    ATTRIBUTE_INT = 3,
    ATTRIBUTE_TEXT = 4,
    ATTRIBUTE_TENSOR = 5,
    ATTRIBUTE_INTS = 8,
    INTS_MAX = 1 << 16 /* integers of an attribute */
};

int onnx_find(struct protobuf message, uint32_t number, struct protobuf_field *found)
{
    struct protobuf_field field;
    int more, result = 0;

    while ((more = protobuf_next(&message, &field)) == 1) {
        if (field.number == number && field.wire == PROTOBUF_BYTES) {
            *found = field;
            result = 1;
        }
    }
    return more < 0 ? -1 : result;
}

/* Shapes */

static int read_dim(struct protobuf message, struct model_dim *dim, struct fault *fault)
{
    struct protobuf_field field;
    int more;

    *dim = (struct model_dim){.extent = MODEL_OPEN};
    while ((more = protobuf_next(&message, &field)) == 1) {
        if (field.number == DIM_EXTENT && field.wire == PROTOBUF_VARINT)
            dim->extent = (int64_t)field.value;
        if (field.number == DIM_NAME && field.wire == PROTOBUF_BYTES && field.size > 0) {
            free(dim->name);
            dim->name =
                model_text((const char *)field.bytes,
                           field.size < MODEL_NAME_MAX ? (size_t)field.size : MODEL_NAME_MAX);
            if (!dim->name)
                return fault_no_memory(fault);
        }
    }
    return more < 0 ? onnx_malformed("a dimension", fault) : 0;
}

static int read_shape(struct model_tensor *tensor, struct protobuf message, struct fault *fault)
{
    struct model_dim dims[MODEL_RANK_MAX] = {{0}};
    struct protobuf_field field;
    size_t rank = 0;
    int more, result = 0;

    while (result == 0 && (more = protobuf_next(&message, &field)) != 0) {
        if (more < 0)
            result = onnx_malformed("a shape", fault);
        else if (field.number != SHAPE_DIM || field.wire != PROTOBUF_BYTES)
            continue;
        else if (rank == MODEL_RANK_MAX)
            result =
                fault_set(fault, FAULT_LIMIT, NULL, "the tensor %.*s has more than %d dimensions",
                          MODEL_WORD_MAX, tensor->name, MODEL_RANK_MAX);
        else
            result = read_dim(protobuf_inside(&field), &dims[rank++], fault);
    }
    if (result == 0)
        result = model_set_shape(tensor, dims, rank, fault);
    for (size_t d = 0; d < rank; d++)
        free(dims[d].name);
    return result;
}

/* Reads the kind of a TypeProto that is not a tensor's. Returns -1 if it is malformed. */
static int read_kind(struct protobuf type, enum model_kind *kind)
{
    struct protobuf_field items, inside;
    int found = onnx_find(type, TYPE_SEQUENCE, &items);

    if (found == 1)
        *kind = MODEL_SEQUENCE;
    if (found != 0)
        return found;
    found = onnx_find(type, TYPE_OPTIONAL, &items);
    if (found < 1)
        return found;
    *kind = MODEL_OPTIONAL;
    found = onnx_find(protobuf_inside(&items), TYPE_OF_ITEMS, &inside);
    if (found == 1)
        found = onnx_find(protobuf_inside(&inside), TYPE_SEQUENCE, &items);
    if (found == 1)
        *kind = MODEL_OPTIONAL_SEQUENCE;
    return found;
}

/* Reads a ValueInfoProto. Sets *index to its tensor, or to MODEL_ABSENT. */
static int read_value(struct model *model, struct protobuf message, size_t *index,
                      struct fault *fault)
{
    struct protobuf_field name = {0}, type = {0}, tensor, field;
    int more;

    *index = MODEL_ABSENT;
    if (onnx_find(message, VALUE_NAME, &name) < 0)
        return onnx_malformed("a ValueInfoProto", fault);
    if (name.size == 0)
        return 0;
    if (model_add_tensor(model, (const char *)name.bytes, (size_t)name.size, false, index, fault))
        return -1;
    struct model_tensor *to = &model->tensors[*index];
    if (to->place != MODEL_NOWHERE) /* the constant has a type and a shape */
        return 0;
    int found = onnx_find(message, VALUE_TYPE, &type);
    if (found == 1)
        found = onnx_find(protobuf_inside(&type), TYPE_TENSOR, &tensor);
    if (found == 0 && type.bytes)
        found = read_kind(protobuf_inside(&type), &to->kind) < 0 ? -1 : 0;
    if (found < 1)
        return found < 0 ? onnx_malformed("a TypeProto", fault) : 0;
    struct protobuf inside = protobuf_inside(&tensor);
    while ((more = protobuf_next(&inside, &field)) == 1) {
        if (field.number == TYPE_ELEMENT && field.wire == PROTOBUF_VARINT)
            to->dtype = onnx_dtype(field.value);
        if (field.number == TYPE_SHAPE && field.wire == PROTOBUF_BYTES &&
            read_shape(to, protobuf_inside(&field), fault))
            return -1;
    }
    return more < 0 ? onnx_malformed("a type of a tensor", fault) : 0;
}

/* Nodes */

static int add_int(struct model_attribute *attribute, uint64_t value, size_t *capacity,
                   struct fault *fault)
{
    if (attribute->count == INTS_MAX)
        return fault_set(fault, FAULT_LIMIT, NULL, "an attribute has more than %d integers",
                         INTS_MAX);
    if (attribute->count == *capacity) {
        size_t wanted = *capacity ? *capacity * 2 : 8;
        int64_t *more = reallocarray(attribute->ints, wanted, sizeof(*more));
        if (!more)
            return fault_no_memory(fault);
        attribute->ints = more;
        *capacity = wanted;
    }
    attribute->ints[attribute->count++] = (int64_t)value;
    return 0;
}

static int add_ints(struct model_attribute *attribute, const struct protobuf_field *field,
                    size_t *capacity, struct fault *fault)
{
    struct protobuf list;
    uint64_t value;
    int more;

    attribute->kind = MODEL_INTS;
    if (field->wire == PROTOBUF_VARINT)
        return add_int(attribute, field->value, capacity, fault);
    if (field->wire != PROTOBUF_BYTES)
        return onnx_malformed("a list of integers", fault);
    list = protobuf_inside(field);
    while ((more = protobuf_number(&list, PROTOBUF_VARINT, &value)) == 1) {
        if (add_int(attribute, value, capacity, fault))
            return -1;
    }
    return more < 0 ? onnx_malformed("a list of integers", fault) : 0;
}

/* Reads an AttributeProto. Sets *tensor if its value is a tensor. */
static int read_attribute(struct model_node *node, struct protobuf message,
                          struct protobuf_field *tensor, struct fault *fault)
{
    struct model_attribute *attribute;
    struct protobuf_field field, name = {0};
    size_t capacity = 0;

    if (onnx_find(message, ATTRIBUTE_NAME, &name) < 0)
        return onnx_malformed("an attribute", fault);
    attribute = model_add_attribute(node, (const char *)name.bytes, (size_t)name.size);
    if (!attribute)
        return fault_no_memory(fault);
    while (protobuf_next(&message, &field) == 1) {
        const uint32_t bits = (uint32_t)field.value;

        if (field.number == ATTRIBUTE_INT && field.wire == PROTOBUF_VARINT) {
            attribute->kind = MODEL_INT;
            attribute->i = (int64_t)field.value;
        } else if (field.number == ATTRIBUTE_FLOAT && field.wire == PROTOBUF_32) {
            attribute->kind = MODEL_FLOAT;
            memcpy(&attribute->f, &bits, sizeof(bits));
        } else if (field.number == ATTRIBUTE_TEXT && field.wire == PROTOBUF_BYTES) {
            attribute->kind = MODEL_TEXT;
            free(attribute->text);
            attribute->text = model_text((const char *)field.bytes, (size_t)field.size);
            if (!attribute->text)
                return fault_no_memory(fault);
        } else if (field.number == ATTRIBUTE_INTS) {
            if (add_ints(attribute, &field, &capacity, fault))
                return -1;
        } else if (field.number == ATTRIBUTE_TENSOR && field.wire == PROTOBUF_BYTES &&
                   strcmp(attribute->name, "value") == 0) {
            *tensor = field;
        }
    }
    return 0;
}

static int add_name(struct model *model, const struct protobuf_field *field, size_t **list,
                    size_t *count, struct fault *fault)
{
    size_t index = MODEL_ABSENT;

    if (field->size > 0 && model_add_tensor(model, (const char *)field->bytes, (size_t)field->size,
                                            false, &index, fault))
        return -1;
    return model_push(list, count, index) ? fault_no_memory(fault) : 0;
}

static int set_text(char **text, const struct protobuf_field *field, struct fault *fault)
{
    free(*text);
    *text = model_text((const char *)field->bytes, (size_t)field->size);
    return *text ? 0 : fault_no_memory(fault);
}

/* Makes the output of a node Constant a constant. */
static int read_value_of_constant(struct model *model, const struct model_node *node,
                                  const struct protobuf_field *tensor, struct fault *fault)
{
    const struct model_attribute *one = model_attribute(node, "value_int");
    const struct model_attribute *list = model_attribute(node, "value_ints");

    if (node->output_count != 1 || node->outputs[0] == MODEL_ABSENT)
        return 0;
    if (tensor->bytes)
        return onnx_read_constant(model, protobuf_inside(tensor), node->outputs[0], fault);
    if (one && one->kind == MODEL_INT)
        return onnx_set_integers(&model->tensors[node->outputs[0]], &one->i, 1, true, fault);
    if (list && list->kind == MODEL_INTS)
        return onnx_set_integers(&model->tensors[node->outputs[0]], list->ints, list->count, false,
                                 fault);
    return 0;
}

static int read_node(struct model *model, struct protobuf message, struct fault *fault)
{
    struct protobuf_field field, tensor = {0};
    struct model_node *node;
    int more, result = model_add_node(model, &node, fault);

    while (result == 0 && (more = protobuf_next(&message, &field)) != 0) {
        if (more < 0)
            return onnx_malformed("a NodeProto", fault);
        if (field.wire != PROTOBUF_BYTES)
            continue;
        switch (field.number) {
        case NODE_INPUT:
            result = add_name(model, &field, &node->inputs, &node->input_count, fault);
            break;
        case NODE_OUTPUT:
            result = add_name(model, &field, &node->outputs, &node->output_count, fault);
            break;
        case NODE_NAME:
            result = set_text(&node->name, &field, fault);
            break;
        case NODE_OP:
            result = set_text(&node->op, &field, fault);
            break;
        case NODE_DOMAIN:
            result = set_text(&node->domain, &field, fault);
            break;
        case NODE_ATTRIBUTE:
            result = read_attribute(node, protobuf_inside(&field), &tensor, fault);
            break;
        default:
            break;
        }
    }
    if (result)
        return -1;
    if ((!node->op && !(node->op = strdup(""))) || (!node->name && !(node->name = strdup(""))))
        return fault_no_memory(fault);
    return strcmp(node->op, "Constant") == 0 ? read_value_of_constant(model, node, &tensor, fault)
                                             : 0;
}

/* The graph */

static int read_graph(struct model *model, struct protobuf message, struct fault *fault)
{
    struct protobuf_field field;
    size_t index;
    int more;

    while ((more = protobuf_next(&message, &field)) == 1) {
        struct protobuf inside = protobuf_inside(&field);
        int result = 0;

        if (field.wire != PROTOBUF_BYTES)
            continue;
        if (field.number == GRAPH_NODE)
            result = read_node(model, inside, fault);
        else if (field.number == GRAPH_INITIALIZER)
            result = onnx_read_constant(model, inside, MODEL_ABSENT, fault);
        else if (field.number == GRAPH_VALUE)
            result = read_value(model, inside, &index, fault);
        else if (field.number == GRAPH_INPUT || field.number == GRAPH_OUTPUT) {
            bool input = field.number == GRAPH_INPUT;
            result = read_value(model, inside, &index, fault);
            if (result == 0 && index != MODEL_ABSENT &&
                model_push(input ? &model->inputs : &model->outputs,
                           input ? &model->input_count : &model->output_count, index))
                result = fault_no_memory(fault);
        }
        if (result)
            return -1;
    }
    return more < 0 ? onnx_malformed("the graph", fault) : 0;
}

static int read_opset(struct model *model, struct protobuf message, struct fault *fault)
{
    struct protobuf_field field;
    int64_t version = 0;
    bool own = true;
    int more;

    while ((more = protobuf_next(&message, &field)) == 1) {
        if (field.number == OPSET_DOMAIN && field.wire == PROTOBUF_BYTES)
            own = field.size == 0 || (field.size == 7 && memcmp(field.bytes, "ai.onnx", 7) == 0);
        if (field.number == OPSET_VERSION && field.wire == PROTOBUF_VARINT)
            version = (int64_t)field.value;
    }
    if (own)
        model->version = version;
    return more < 0 ? onnx_malformed("opset_import", fault) : 0;
}

/* Removes constants from the inputs of the graph: older models list them there, too. */
static void drop_constant_inputs(struct model *model)
{
    size_t kept = 0;

    for (size_t i = 0; i < model->input_count; i++) {
        const struct model_tensor *tensor = &model->tensors[model->inputs[i]];
        if (tensor->place == MODEL_NOWHERE && !tensor->refusal)
            model->inputs[kept++] = model->inputs[i];
    }
    model->input_count = kept;
}

int onnx_read(struct model *model, struct fault *fault)
{
    struct protobuf message = {model->bytes, model->bytes + model->size};
    struct protobuf_field field;
    bool found = false;
    int more, result = 0;

    while (result == 0 && (more = protobuf_next(&message, &field)) != 0) {
        if (more < 0)
            return onnx_malformed("the file", fault);
        if (field.wire != PROTOBUF_BYTES)
            continue;
        if (field.number == MODEL_GRAPH)
            result = read_graph(model, protobuf_inside(&field), fault);
        if (field.number == MODEL_OPSET)
            result = read_opset(model, protobuf_inside(&field), fault);
        found = found || field.number == MODEL_GRAPH;
    }
    if (result)
        return -1;
    if (!found)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "it is not an ONNX model: no graph");
    drop_constant_inputs(model);
    return onnx_find_quantisation(model, fault);
}
