/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads ONNX models (ModelProto) and values (TensorProto, SequenceProto, OptionalProto). */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/model.h"
#include "cli/model/protobuf.h"
#include "proto/grow.h"

/* Numbers of the fields of SequenceProto and OptionalProto. */
enum { SEQUENCE_TENSOR = 3, OPTIONAL_TENSOR = 3, OPTIONAL_SEQUENCE = 5 };

/* The members of a TensorProto except its elements. */
struct parsed {
    struct protobuf message;
    struct model_dim dims[MODEL_RANK_MAX];
    size_t rank;
    const struct model_dtype *dtype;
    struct protobuf_field name, raw, location;
    bool has_raw, outside;
    uint64_t offset, length;
    bool has_length;
};

/* Numbers of the fields of TensorProto, and of the entries of its external_data. */
enum {
    TENSOR_DIMS = 1,
    TENSOR_TYPE = 2,
    TENSOR_FLOATS = 4,
    TENSOR_INT32S = 5,
    TENSOR_STRINGS = 6,
    TENSOR_INT64S = 7,
    TENSOR_NAME = 8,
    TENSOR_RAW = 9,
    TENSOR_DOUBLES = 10,
    TENSOR_UINT64S = 11,
    TENSOR_EXTERNAL = 13,
    TENSOR_LOCATION = 14,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2
};

static int onnx_malformed(const char *what, struct fault *fault)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "%s is not a message of Protocol Buffers: it is truncated or not ONNX", what);
}

static int read_dims(struct parsed *tensor, const struct protobuf_field *field, struct fault *fault)
{
    struct protobuf list = protobuf_inside(field);
    uint64_t value = field->value;
    int more = field->wire == PROTOBUF_BYTES ? protobuf_number(&list, PROTOBUF_VARINT, &value) : 1;

    for (; more == 1; more = protobuf_number(&list, PROTOBUF_VARINT, &value)) {
        if (tensor->rank == MODEL_RANK_MAX)
            return fault_set(fault, FAULT_LIMIT, NULL, "a tensor has more than %d dimensions",
                             MODEL_RANK_MAX);
        if (value > INT64_MAX)
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "a constant has the extent %" PRId64, (int64_t)value);
        tensor->dims[tensor->rank++].extent = (int64_t)value;
        if (field->wire != PROTOBUF_BYTES)
            return 0;
    }
    return more < 0 ? onnx_malformed("TensorProto.dims", fault) : 0;
}

static bool is_text(const struct protobuf_field *field, const char *text)
{
    return field->size == strlen(text) && memcmp(field->bytes, text, field->size) == 0;
}

/* Reads a decimal number. Returns false if the text is no number, or the number is too large. */
static bool number_of(const struct protobuf_field *text, uint64_t *value)
{
    *value = 0;
    for (uint64_t i = 0; i < text->size; i++) {
        if (text->bytes[i] < '0' || text->bytes[i] > '9' ||
            __builtin_mul_overflow(*value, (uint64_t)10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(text->bytes[i] - '0'), value))
            return false;
    }
    return text->size > 0;
}

/* Reads one entry of external_data. Returns false if it is malformed. */
static bool read_external(struct parsed *tensor, struct protobuf entry)
{
    struct protobuf_field field, key = {.size = 0}, value = {.size = 0};
    int more;

    while ((more = protobuf_next(&entry, &field)) == 1) {
        if (field.number == ENTRY_KEY && field.wire == PROTOBUF_BYTES)
            key = field;
        if (field.number == ENTRY_VALUE && field.wire == PROTOBUF_BYTES)
            value = field;
    }
    if (more < 0 || !key.bytes || !value.bytes)
        return more == 0;
    if (is_text(&key, "location"))
        tensor->location = value;
    if (is_text(&key, "offset"))
        return number_of(&value, &tensor->offset);
    if (is_text(&key, "length"))
        return tensor->has_length = number_of(&value, &tensor->length);
    return true;
}

static int parse(struct protobuf message, struct parsed *tensor, struct fault *fault)
{
    struct protobuf_field field;
    int more;

    *tensor = (struct parsed){.message = message};
    while ((more = protobuf_next(&message, &field)) == 1) {
        const bool bytes = field.wire == PROTOBUF_BYTES;

        if (field.number == TENSOR_DIMS && (bytes || field.wire == PROTOBUF_VARINT)) {
            if (read_dims(tensor, &field, fault))
                return -1;
        } else if (field.number == TENSOR_TYPE && !bytes) {
            tensor->dtype = onnx_dtype(field.value);
        } else if (field.number == TENSOR_NAME && bytes) {
            tensor->name = field;
        } else if (field.number == TENSOR_RAW && bytes) {
            tensor->raw = field;
            tensor->has_raw = true;
        } else if (field.number == TENSOR_LOCATION && !bytes) {
            tensor->outside = field.value == 1;
        } else if (field.number == TENSOR_EXTERNAL && bytes &&
                   !read_external(tensor, protobuf_inside(&field))) {
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "external_data of a tensor: numbers are needed for offset and length");
        }
    }
    return more < 0 ? onnx_malformed("a TensorProto", fault) : 0;
}

/* Returns whether a path stays below the directory of the model. */
static bool is_safe(const char *path)
{
    if (!*path || *path == '/')
        return false;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return false;
    }
    return true;
}

static int set_outside(struct model_tensor *to, const struct parsed *tensor, struct fault *fault)
{
    to->location = model_text((const char *)tensor->location.bytes, (size_t)tensor->location.size);
    if (!to->location)
        return fault_no_memory(fault);
    if (!is_safe(to->location)) {
        to->refusal = strdup("its elements are in a file outside the directory of the model");
        return to->refusal ? 0 : fault_no_memory(fault);
    }
    to->place = MODEL_OUTSIDE;
    to->offset = tensor->offset;
    if (tensor->has_length)
        to->bytes = tensor->length;
    else if (!model_tensor_bytes(to, &to->bytes))
        to->bytes = 0;
    return 0;
}

/* The elements of a tensor while they are decoded. */
struct decoder {
    uint8_t *memory;
    uint64_t size, filled;
    uint32_t number; /* bytes of memory that one decoded number fills */
};

static void put(struct decoder *decoder, uint64_t value)
{
    uint64_t bits = htole64(value);

    if (decoder->filled + decoder->number <= decoder->size)
        memcpy(decoder->memory + decoder->filled, &bits, decoder->number);
    decoder->filled += decoder->number; /* even beyond the end: set_typed() compares the sizes */
}

/* Decodes all fields of the message with this number. Returns false if a field is malformed. */
static bool decode(struct decoder *decoder, struct protobuf message, uint32_t number,
                   enum protobuf_wire wire)
{
    struct protobuf_field field;

    while (protobuf_next(&message, &field) == 1) {
        struct protobuf list;
        uint64_t value;
        int more = 0;

        if (field.number != number)
            continue;
        if (field.wire == wire) {
            put(decoder, field.value);
            continue;
        }
        if (field.wire != PROTOBUF_BYTES)
            return false;
        list = protobuf_inside(&field);
        while ((more = protobuf_number(&list, wire, &value)) == 1)
            put(decoder, value);
        if (more < 0)
            return false;
    }
    return true;
}

/* Returns the number of the field that has elements of this type. Sets *wire to its wire type. */
static uint32_t field_of(const struct model_dtype *dtype, enum protobuf_wire *wire)
{
    *wire = PROTOBUF_VARINT;
    switch (dtype->id) {
    case MODEL_FLOAT32:
    case MODEL_COMPLEX64:
        *wire = PROTOBUF_32;
        return TENSOR_FLOATS;
    case MODEL_FLOAT64:
    case MODEL_COMPLEX128:
        *wire = PROTOBUF_64;
        return TENSOR_DOUBLES;
    case MODEL_INT64:
        return TENSOR_INT64S;
    case MODEL_UINT32:
    case MODEL_UINT64:
        return TENSOR_UINT64S;
    default:
        return TENSOR_INT32S;
    }
}

/*
 * Finds the packed list of little-endian numbers that has all elements: they need no copy. Returns
 * false if the message has no such list.
 */
static bool find_packed(const struct parsed *tensor, uint32_t number, uint64_t bytes,
                        struct protobuf_field *packed)
{
    struct protobuf message = tensor->message;
    struct protobuf_field field;
    unsigned count = 0;

    while (protobuf_next(&message, &field) == 1) {
        if (field.number == number) {
            *packed = field;
            count++;
        }
    }
    return count == 1 && packed->wire == PROTOBUF_BYTES && packed->size == bytes;
}

static int set_typed(struct model *model, struct model_tensor *to, const struct parsed *tensor,
                     struct fault *fault)
{
    struct decoder decoder = {.number = to->dtype->size};
    struct protobuf_field packed;
    enum protobuf_wire wire;
    const uint32_t number = field_of(to->dtype, &wire);

    if (!model_tensor_bytes(to, &decoder.size))
        return 0; /* model_check_constants() refuses the tensor */
    if (wire != PROTOBUF_VARINT && find_packed(tensor, number, decoder.size, &packed)) {
        to->place = MODEL_IN_FILE;
        to->offset = (uint64_t)(packed.bytes - model->bytes);
        to->bytes = packed.size;
        return 0;
    }
    if (wire != PROTOBUF_VARINT)
        decoder.number = wire == PROTOBUF_32 ? 4 : 8; /* a complex element has two numbers */
    /* A number has at least one byte in the file, so a larger tensor is incomplete. */
    if (decoder.size / 8 > (uint64_t)(tensor->message.end - tensor->message.at))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "the tensor %.*s has too few elements for its shape", MODEL_WORD_MAX,
                         to->name);
    decoder.memory = calloc(1, (size_t)decoder.size + 8);
    if (!decoder.memory)
        return fault_no_memory(fault);
    to->memory = decoder.memory;
    to->place = MODEL_IN_MEMORY;
    if (!decode(&decoder, tensor->message, number, wire))
        return onnx_malformed("a list of elements", fault);
    to->bytes = decoder.size;
    if (decoder.filled == decoder.size)
        return 0;
    to->refusal = strdup("its list of elements does not have the length that its shape needs");
    return to->refusal ? 0 : fault_no_memory(fault);
}

/*
 * Gives a tensor the type, shape and elements of a TensorProto, so that it is a constant. The
 * tensor is `index`, or, if `index` is MODEL_ABSENT, the tensor with the name in the message.
 */
static int onnx_read_constant(struct model *model, struct protobuf message, size_t index,
                              struct fault *fault)
{
    struct parsed tensor;

    if (parse(message, &tensor, fault))
        return -1;
    if (index == MODEL_ABSENT && model_add_tensor(model, (const char *)tensor.name.bytes,
                                                  (size_t)tensor.name.size, false, &index, fault))
        return -1;
    struct model_tensor *to = &model->tensors[index];
    if (to->place != MODEL_NOWHERE || to->refusal)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "the constant %.*s is defined twice",
                         MODEL_WORD_MAX, to->name);
    to->dtype = tensor.dtype ? tensor.dtype : model_dtype(MODEL_OTHER);
    if (model_set_shape(to, tensor.dims, tensor.rank, fault))
        return -1;
    if (to->dtype->size == 0) {
        to->place = MODEL_IN_FILE; /* refused by model_check_constants() */
        return 0;
    }
    if (tensor.outside)
        return set_outside(to, &tensor, fault);
    if (!tensor.has_raw)
        return set_typed(model, to, &tensor, fault);
    to->place = MODEL_IN_FILE;
    to->offset = (uint64_t)(tensor.raw.bytes - model->bytes);
    to->bytes = tensor.raw.size;
    return 0;
}

static int add_item(struct model *model, struct protobuf message, struct fault *fault)
{
    char name[32];
    const int length = snprintf(name, sizeof(name), "[%zu]", model->tensor_count);
    size_t index;

    if (model_add_tensor(model, name, (size_t)length, true, &index, fault))
        return -1;
    return onnx_read_constant(model, message, index, fault);
}

/* Finds the last field of bytes with this number. Returns 1, 0 if there is no field, or -1. */
static int onnx_find(struct protobuf message, uint32_t number, struct protobuf_field *found)
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

/* Quantisation: the inputs (x, scale, zero_point) of QuantizeLinear and DequantizeLinear */

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

/* Sets the quantisation of the outputs of QuantizeLinear and of the inputs of DequantizeLinear. */
static int onnx_find_quantisation(struct model *model, struct fault *fault)
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

/* The types of TensorProto.DataType, by number. */
static const enum model_dtype_id types[] = {
    [1] = MODEL_FLOAT32, [2] = MODEL_UINT8,      [3] = MODEL_INT8,        [4] = MODEL_UINT16,
    [5] = MODEL_INT16,   [6] = MODEL_INT32,      [7] = MODEL_INT64,       [8] = MODEL_STRING,
    [9] = MODEL_BOOL,    [10] = MODEL_FLOAT16,   [11] = MODEL_FLOAT64,    [12] = MODEL_UINT32,
    [13] = MODEL_UINT64, [14] = MODEL_COMPLEX64, [15] = MODEL_COMPLEX128, [16] = MODEL_BFLOAT16,
    [17] = MODEL_FLOAT8, [18] = MODEL_FLOAT8,    [19] = MODEL_FLOAT8,     [20] = MODEL_FLOAT8,
    [21] = MODEL_INT4,   [22] = MODEL_INT4,      [23] = MODEL_INT4};

const struct model_dtype *onnx_dtype(uint64_t number)
{
    if (number == 0)
        return NULL;
    return model_dtype(number < sizeof(types) / sizeof(types[0]) ? types[number] : MODEL_OTHER);
}

/* Makes a tensor a constant of `count` integers (int64) in one dimension, or a scalar. */
static int onnx_set_integers(struct model_tensor *tensor, const int64_t *values, size_t count,
                             bool scalar, struct fault *fault)
{
    const struct model_dim dim = {.extent = (int64_t)count};

    if (tensor->place != MODEL_NOWHERE)
        return 0;
    if (model_set_shape(tensor, &dim, scalar ? 0 : 1, fault))
        return -1;
    tensor->memory = malloc(count * sizeof(int64_t) + 1);
    if (!tensor->memory)
        return fault_no_memory(fault);
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = htole64((uint64_t)values[i]);
        memcpy(tensor->memory + i * sizeof(bits), &bits, sizeof(bits));
    }
    tensor->dtype = model_dtype(MODEL_INT64);
    tensor->place = MODEL_IN_MEMORY;
    tensor->bytes = count * sizeof(int64_t);
    return 0;
}

int onnx_read_tensor_file(struct model *model, struct fault *fault)
{
    const struct protobuf message = {model->bytes, model->bytes + model->size};
    size_t index;

    if (model->size == 0)
        return onnx_malformed("an empty file", fault);
    if (onnx_read_constant(model, message, MODEL_ABSENT, fault))
        return -1;
    index = model->tensor_count - 1;
    if (model->tensors[index].dtype->id == MODEL_OTHER)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "it is not a tensor of ONNX (TensorProto): it has no known data_type");
    return 0;
}

/* Numbers of the fields of ModelProto and of the messages in it. */
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
    INTS_MAX = 1 << 16 /* maximum number of integers of an attribute */
};

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

/* Reads the kind of a TypeProto that is no type of a tensor. Returns -1 if it is malformed. */
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

/* Reads a ValueInfoProto. Sets *index to its tensor, or to MODEL_ABSENT if it has no name. */
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
    if (to->place != MODEL_NOWHERE) /* a constant: it has a type and a shape already */
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

static int add_int(struct model_attribute *attribute, uint64_t value, size_t *capacity,
                   struct fault *fault)
{
    if (attribute->count == INTS_MAX)
        return fault_set(fault, FAULT_LIMIT, NULL, "an attribute has more than %d integers",
                         INTS_MAX);
    if (list_grow(&attribute->ints, attribute->count, capacity, sizeof(*attribute->ints)))
        return fault_no_memory(fault);
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

/* Makes a constant of the output of a node Constant. */
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
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "not an ONNX model: it has no graph");
    drop_constant_inputs(model);
    return onnx_find_quantisation(model, fault);
}
