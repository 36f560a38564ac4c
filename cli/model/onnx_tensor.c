/* SPDX-License-Identifier: BSD-3-Clause */
/* TensorProto: the constants of ONNX models. */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/onnx.h"

/* Fields of TensorProto, and of the entries of its external_data. */
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

int onnx_malformed(const char *what, struct fault *fault)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "%s is not a message of Protocol Buffers: it is cut off or no ONNX file",
                     what);
}

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

/* Reads decimal digits. Returns false if there is anything else. */
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

static bool is_text(const struct protobuf_field *field, const char *text)
{
    return field->size == strlen(text) && memcmp(field->bytes, text, field->size) == 0;
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

/* Returns the field that holds elements of a type, and the wire type of one number. */
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

/* The elements of a tensor that are being decoded. */
struct decoder {
    uint8_t *memory;
    uint64_t size, filled;
    uint32_t number; /* bytes that one number fills */
};

static void put(struct decoder *decoder, uint64_t value)
{
    uint64_t bits = htole64(value);

    if (decoder->filled + decoder->number <= decoder->size)
        memcpy(decoder->memory + decoder->filled, &bits, decoder->number);
    decoder->filled += decoder->number; /* also of numbers beyond the end: the sizes must agree */
}

/* Decodes all fields `number` of the message. Returns false if they are malformed. */
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

/* Finds one packed list of little-endian numbers that has all elements, so that no copy is needed.
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
        decoder.number = wire == PROTOBUF_32 ? 4 : 8; /* half of a complex number */
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

int onnx_read_constant(struct model *model, struct protobuf message, size_t index,
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

int onnx_set_integers(struct model_tensor *tensor, const int64_t *values, size_t count, bool scalar,
                      struct fault *fault)
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
