/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/flatbuffer.h"
#include "cli/model/model.h"

/* The names of BuiltinOperator, by number; an empty name ends the list. */
static const char operator_names[] =
    "ADD\0AVERAGE_POOL_2D\0CONCATENATION\0CONV_2D\0DEPTHWISE_CONV_2D\0DEPTH_TO_SPACE\0DEQUANTIZE\0"
    "EMBEDDING_LOOKUP\0FLOOR\0FULLY_CONNECTED\0HASHTABLE_LOOKUP\0L2_NORMALIZATION\0L2_POOL_2D\0"
    "LOCAL_RESPONSE_NORMALIZATION\0LOGISTIC\0LSH_PROJECTION\0LSTM\0MAX_POOL_2D\0MUL\0RELU\0"
    "RELU_N1_TO_1\0RELU6\0RESHAPE\0RESIZE_BILINEAR\0RNN\0SOFTMAX\0SPACE_TO_DEPTH\0SVDF\0TANH\0"
    "CONCAT_EMBEDDINGS\0SKIP_GRAM\0CALL\0CUSTOM\0EMBEDDING_LOOKUP_SPARSE\0PAD\0"
    "UNIDIRECTIONAL_SEQUENCE_RNN\0GATHER\0BATCH_TO_SPACE_ND\0SPACE_TO_BATCH_ND\0TRANSPOSE\0MEAN\0"
    "SUB\0DIV\0SQUEEZE\0UNIDIRECTIONAL_SEQUENCE_LSTM\0STRIDED_SLICE\0BIDIRECTIONAL_SEQUENCE_RNN\0"
    "EXP\0TOPK_V2\0SPLIT\0LOG_SOFTMAX\0DELEGATE\0BIDIRECTIONAL_SEQUENCE_LSTM\0CAST\0PRELU\0"
    "MAXIMUM\0ARG_MAX\0MINIMUM\0LESS\0NEG\0PADV2\0GREATER\0GREATER_EQUAL\0LESS_EQUAL\0SELECT\0"
    "SLICE\0SIN\0TRANSPOSE_CONV\0SPARSE_TO_DENSE\0TILE\0EXPAND_DIMS\0EQUAL\0NOT_EQUAL\0LOG\0SUM\0"
    "SQRT\0RSQRT\0SHAPE\0POW\0ARG_MIN\0FAKE_QUANT\0REDUCE_PROD\0REDUCE_MAX\0PACK\0LOGICAL_OR\0"
    "ONE_HOT\0LOGICAL_AND\0LOGICAL_NOT\0UNPACK\0REDUCE_MIN\0FLOOR_DIV\0REDUCE_ANY\0SQUARE\0"
    "ZEROS_LIKE\0FILL\0FLOOR_MOD\0RANGE\0RESIZE_NEAREST_NEIGHBOR\0LEAKY_RELU\0SQUARED_DIFFERENCE\0"
    "MIRROR_PAD\0ABS\0SPLIT_V\0UNIQUE\0CEIL\0REVERSE_V2\0ADD_N\0GATHER_ND\0COS\0WHERE\0RANK\0ELU\0"
    "REVERSE_SEQUENCE\0MATRIX_DIAG\0QUANTIZE\0MATRIX_SET_DIAG\0ROUND\0HARD_SWISH\0IF\0WHILE\0"
    "NON_MAX_SUPPRESSION_V4\0NON_MAX_SUPPRESSION_V5\0SCATTER_ND\0SELECT_V2\0DENSIFY\0SEGMENT_SUM\0"
    "BATCH_MATMUL\0PLACEHOLDER_FOR_GREATER_OP_CODES\0CUMSUM\0CALL_ONCE\0BROADCAST_TO\0RFFT2D\0"
    "CONV_3D\0IMAG\0REAL\0COMPLEX_ABS\0HASHTABLE\0HASHTABLE_FIND\0HASHTABLE_IMPORT\0"
    "HASHTABLE_SIZE\0REDUCE_ALL\0CONV_3D_TRANSPOSE\0VAR_HANDLE\0READ_VARIABLE\0ASSIGN_VARIABLE\0"
    "BROADCAST_ARGS\0RANDOM_STANDARD_NORMAL\0BUCKETIZE\0RANDOM_UNIFORM\0MULTINOMIAL\0GELU\0"
    "DYNAMIC_UPDATE_SLICE\0RELU_0_TO_1\0UNSORTED_SEGMENT_PROD\0UNSORTED_SEGMENT_MAX\0"
    "UNSORTED_SEGMENT_SUM\0ATAN2\0UNSORTED_SEGMENT_MIN\0SIGN\0BITCAST\0BITWISE_XOR\0RIGHT_SHIFT\0";

/* Returns the name of a builtin operator, or null. */
static const char *tflite_operator(uint32_t code)
{
    const char *name = operator_names;

    for (; code > 0 && *name; code--)
        name += strlen(name) + 1;
    return *name ? name : NULL;
}

/* Ids of fields of the table Operator. */
enum { OPERATOR_OPTIONS_TYPE = 3, OPERATOR_OPTIONS = 4 };

/*
 * Options that become attributes: operator, number of the options in the union BuiltinOptions,
 * field, name. All are int32 except the activation, an enum of one byte.
 */
static const struct option {
    const char *op;
    uint32_t type, field, width;
    const char *name;
} options[] = {
    {"CONCATENATION", 10, 0, 4, "axis"},
    {"CONCATENATION", 10, 1, 1, "fused_activation_function"},
    {"SPACE_TO_DEPTH", 19, 0, 4, "block_size"},
    {"DEPTH_TO_SPACE", 94, 0, 4, "block_size"},
    {"STRIDED_SLICE", 32, 0, 4, "begin_mask"},
    {"STRIDED_SLICE", 32, 1, 4, "end_mask"},
    {"STRIDED_SLICE", 32, 2, 4, "ellipsis_mask"},
    {"STRIDED_SLICE", 32, 3, 4, "new_axis_mask"},
    {"STRIDED_SLICE", 32, 4, 4, "shrink_axis_mask"},
    {"STRIDED_SLICE", 32, 5, 1, "offset"},
    {"MIRROR_PAD", 77, 0, 1, "mode"},
    {"PACK", 59, 1, 4, "axis"},
    {"UNPACK", 64, 1, 4, "axis"},
};

/* Reads the options of an operator as attributes of the node. Returns 0 or -1 (no memory). */
static int tflite_read_options(struct flatbuffer *file, const struct flatbuffer_table *operator,
                               uint32_t code, struct model_node *node)
{
    const uint32_t type = (uint32_t)flatbuffer_uint(file, operator, OPERATOR_OPTIONS_TYPE, 1, 0);
    const struct flatbuffer_table table = flatbuffer_table(file, operator, OPERATOR_OPTIONS);
    const char *op = tflite_operator(code);

    for (size_t i = 0; op && i < sizeof(options) / sizeof(options[0]); i++) {
        const struct option *option = &options[i];
        struct model_attribute *attribute;

        if (strcmp(op, option->op) != 0)
            continue;
        if (type != 0 && type != option->type) {
            if (!file->problem)
                file->problem = "an operator has the options of another operator";
            return 0;
        }
        attribute = model_add_attribute(node, option->name, strlen(option->name));
        if (!attribute)
            return -1;
        attribute->kind = MODEL_INT;
        attribute->i = option->width == 4
                           ? flatbuffer_int32(file, &table, option->field, 0)
                           : (int64_t)flatbuffer_uint(file, &table, option->field, 1, 0);
    }
    return 0;
}

/* Ids of the fields of tables. */
enum {
    MODEL_VERSION = 0,
    MODEL_CODES = 1,
    MODEL_SUBGRAPHS = 2,
    MODEL_BUFFERS = 4,
    CODE_OLD = 0, /* deprecated_builtin_code: one byte */
    CODE_CUSTOM = 1,
    CODE_BUILTIN = 3,
    SUBGRAPH_TENSORS = 0,
    SUBGRAPH_INPUTS = 1,
    SUBGRAPH_OUTPUTS = 2,
    SUBGRAPH_OPERATORS = 3,
    TENSOR_SHAPE = 0,
    TENSOR_TYPE = 1,
    TENSOR_BUFFER = 2,
    TENSOR_NAME = 3,
    TENSOR_QUANTISATION = 4,
    TENSOR_VARIABLE = 5,
    TENSOR_SPARSITY = 6,
    TENSOR_HAS_RANK = 8,
    QUANTISATION_SCALE = 2,
    QUANTISATION_ZERO = 3,
    QUANTISATION_DIMENSION = 6,
    OPERATOR_CODE = 0,
    OPERATOR_INPUTS = 1,
    OPERATOR_OUTPUTS = 2,
    BUFFER_DATA = 0,
    BUFFER_OFFSET = 1,
    BUFFER_SIZE = 2,
    CUSTOM = 32, /* BuiltinOperator of custom operators */
    SCHEMA_VERSION = 3
};

/* The types of TensorType, by number. */
static const enum model_dtype_id types[] = {
    MODEL_FLOAT32, MODEL_FLOAT16,    MODEL_INT32,  MODEL_UINT8,     MODEL_INT64,
    MODEL_STRING,  MODEL_BOOL,       MODEL_INT16,  MODEL_COMPLEX64, MODEL_INT8,
    MODEL_FLOAT64, MODEL_COMPLEX128, MODEL_UINT64, MODEL_OTHER,     MODEL_OTHER,
    MODEL_UINT32,  MODEL_UINT16,     MODEL_INT4,   MODEL_BFLOAT16};

struct reader {
    struct flatbuffer file;
    struct model *model;
    struct flatbuffer_vector codes, buffers;
    size_t *index; /* index in the model of each tensor, by the tensor's number in the file */
    uint32_t count;
    struct fault *fault;
};

/* Returns 0, or -1 with the problem of the file as a fault. */
static int check(const struct reader *reader)
{
    return reader->file.problem ? fault_set(reader->fault, FAULT_INVALID_PARAMS, NULL,
                                            "it is not a TFLite model: %s", reader->file.problem)
                                : 0;
}

static int read_shape(struct reader *reader, const struct flatbuffer_table *table,
                      struct model_tensor *tensor)
{
    const struct flatbuffer_vector shape = flatbuffer_vector(&reader->file, table, TENSOR_SHAPE, 4);
    struct model_dim dims[MODEL_RANK_MAX] = {{0}};

    if (shape.count > MODEL_RANK_MAX)
        return fault_set(reader->fault, FAULT_LIMIT, NULL,
                         "the tensor %.*s has more than %d dimensions", MODEL_WORD_MAX,
                         tensor->name, MODEL_RANK_MAX);
    for (uint32_t d = 0; d < shape.count; d++)
        dims[d].extent = flatbuffer_element32(&reader->file, &shape, d);
    return model_set_shape(tensor, dims, shape.count, reader->fault);
}

static int read_quantisation(struct reader *reader, const struct flatbuffer_table *table,
                             struct model_tensor *tensor)
{
    struct flatbuffer *file = &reader->file;
    const struct flatbuffer_table from = flatbuffer_table(file, table, TENSOR_QUANTISATION);
    const struct flatbuffer_vector scale = flatbuffer_vector(file, &from, QUANTISATION_SCALE, 4);
    const struct flatbuffer_vector zero = flatbuffer_vector(file, &from, QUANTISATION_ZERO, 8);
    struct model_quant quant = {.count = scale.count};
    int result;

    if (scale.count == 0 || check(reader))
        return check(reader);
    quant.axis = scale.count > 1 ? flatbuffer_int32(file, &from, QUANTISATION_DIMENSION, 0) : 0;
    if (quant.axis < 0 || (quant.axis > 0 && (uint32_t)quant.axis >= tensor->rank))
        return fault_set(reader->fault, FAULT_INVALID_PARAMS, NULL,
                         "the tensor %.*s of rank %u has quantisation parameters for dimension %d",
                         MODEL_WORD_MAX, tensor->name, tensor->rank, quant.axis);
    quant.scale = calloc(scale.count, sizeof(*quant.scale));
    quant.zero_point = calloc(scale.count, sizeof(*quant.zero_point));
    for (uint32_t i = 0; i < scale.count && quant.scale && quant.zero_point; i++) {
        const uint32_t bits = (uint32_t)flatbuffer_element(file, &scale, i);

        memcpy(&quant.scale[i], &bits, sizeof(bits));
        if (zero.count > 0) /* a single zero point is used for all scales */
            quant.zero_point[i] =
                (int64_t)flatbuffer_element(file, &zero, i < zero.count ? i : zero.count - 1);
    }
    result = quant.scale && quant.zero_point
                 ? model_set_quant(reader->model, tensor, &quant, reader->fault)
                 : fault_no_memory(reader->fault);
    free(quant.scale);
    free(quant.zero_point);
    return result;
}

/* Finds the elements of a constant. Files above 2 GiB have the elements after the FlatBuffer. */
static int read_elements(struct reader *reader, const struct flatbuffer_table *table,
                         struct model_tensor *tensor)
{
    struct flatbuffer *file = &reader->file;
    const uint32_t number = (uint32_t)flatbuffer_uint(file, table, TENSOR_BUFFER, 4, 0);
    struct flatbuffer_table buffer;
    struct flatbuffer_vector data;

    if (number == 0 || flatbuffer_uint(file, table, TENSOR_VARIABLE, 1, 0))
        return 0;
    if (number >= reader->buffers.count)
        return fault_set(reader->fault, FAULT_INVALID_PARAMS, NULL,
                         "the tensor %.*s has buffer %u, but the model has %u", MODEL_WORD_MAX,
                         tensor->name, number, reader->buffers.count);
    buffer = flatbuffer_element_table(file, &reader->buffers, number);
    data = flatbuffer_bytes(file, &buffer, BUFFER_DATA);
    tensor->offset = data.at;
    tensor->bytes = data.count;
    const uint64_t offset = flatbuffer_uint(file, &buffer, BUFFER_OFFSET, 8, 0);
    if (data.count == 0 && offset > 1) {
        tensor->offset = offset;
        tensor->bytes = flatbuffer_uint(file, &buffer, BUFFER_SIZE, 8, 0);
        if (offset > file->size || tensor->bytes > file->size - offset)
            return fault_set(reader->fault, FAULT_INVALID_PARAMS, NULL,
                             "the elements of the tensor %.*s exceed the file", MODEL_WORD_MAX,
                             tensor->name);
    }
    if (check(reader) || tensor->bytes == 0)
        return check(reader);
    tensor->place = MODEL_IN_FILE;
    if (flatbuffer_table(file, table, TENSOR_SPARSITY).at &&
        !(tensor->refusal = strdup("its elements are stored as a sparse tensor")))
        return fault_no_memory(reader->fault);
    return 0;
}

static int read_tensor(struct reader *reader, const struct flatbuffer_table *table, size_t *index)
{
    struct flatbuffer *file = &reader->file;
    const struct flatbuffer_vector name = flatbuffer_vector(file, table, TENSOR_NAME, 1);
    const uint32_t type = (uint32_t)flatbuffer_uint(file, table, TENSOR_TYPE, 1, 0);
    struct model_tensor *tensor;

    if (check(reader) || model_add_tensor(reader->model, (const char *)file->bytes + name.at,
                                          name.count, true, index, reader->fault))
        return -1;
    tensor = &reader->model->tensors[*index];
    tensor->dtype =
        model_dtype(type < sizeof(types) / sizeof(types[0]) ? types[type] : MODEL_OTHER);
    return read_shape(reader, table, tensor) || read_quantisation(reader, table, tensor) ||
                   read_elements(reader, table, tensor)
               ? -1
               : check(reader);
}

static int read_tensors(struct reader *reader, const struct flatbuffer_table *graph)
{
    const struct flatbuffer_vector tensors =
        flatbuffer_vector(&reader->file, graph, SUBGRAPH_TENSORS, 4);

    reader->index = calloc((size_t)tensors.count + 1, sizeof(*reader->index));
    if (!reader->index)
        return fault_no_memory(reader->fault);
    for (; reader->count < tensors.count; reader->count++) {
        const struct flatbuffer_table table =
            flatbuffer_element_table(&reader->file, &tensors, reader->count);

        if (read_tensor(reader, &table, &reader->index[reader->count]))
            return -1;
    }
    return check(reader);
}

/* Appends to a list the tensors whose numbers are in the vector `field` of a table. */
static int read_list(struct reader *reader, const struct flatbuffer_table *table, uint32_t field,
                     size_t **list, size_t *count)
{
    const struct flatbuffer_vector numbers = flatbuffer_vector(&reader->file, table, field, 4);

    for (uint32_t i = 0; i < numbers.count; i++) {
        const int32_t number = flatbuffer_element32(&reader->file, &numbers, i);

        if (number < -1 || (number >= 0 && (uint32_t)number >= reader->count))
            return fault_set(reader->fault, FAULT_INVALID_PARAMS, NULL,
                             "an operator or the graph uses tensor %d, but the model has %u",
                             number, reader->count);
        if (model_push(list, count, number < 0 ? MODEL_ABSENT : reader->index[number]))
            return fault_no_memory(reader->fault);
    }
    return check(reader);
}

/* Finds the operator of a node. Sets *code, and node->op to the name of the operator. */
static int read_code(struct reader *reader, const struct flatbuffer_table *operator,
                     uint32_t * code, struct model_node *node)
{
    struct flatbuffer *file = &reader->file;
    const uint32_t number = (uint32_t)flatbuffer_uint(file, operator, OPERATOR_CODE, 4, 0);
    char text[MODEL_WORD_MAX];

    if (check(reader))
        return -1;
    if (number >= reader->codes.count)
        return fault_set(reader->fault, FAULT_INVALID_PARAMS, NULL, "an operator has code %u of %u",
                         number, reader->codes.count);
    const struct flatbuffer_table table = flatbuffer_element_table(file, &reader->codes, number);
    const struct flatbuffer_vector custom = flatbuffer_vector(file, &table, CODE_CUSTOM, 1);
    *code = (uint32_t)flatbuffer_uint(file, &table, CODE_OLD, 1, 0);
    const uint32_t builtin = (uint32_t)flatbuffer_uint(file, &table, CODE_BUILTIN, 4, 0);
    if (builtin > *code) /* the old field has one byte, too small for new operators */
        *code = builtin;
    if (check(reader))
        return -1;
    if (*code == CUSTOM)
        snprintf(text, sizeof(text), "custom operator %.*s",
                 (int)(custom.count < 40 ? custom.count : 40),
                 (const char *)file->bytes + custom.at);
    else
        snprintf(text, sizeof(text), "operator %u", *code);
    node->op = strdup(tflite_operator(*code) && *code != CUSTOM ? tflite_operator(*code) : text);
    node->name = strdup("");
    return node->op && node->name ? 0 : fault_no_memory(reader->fault);
}

static int read_operators(struct reader *reader, const struct flatbuffer_table *graph)
{
    struct flatbuffer *file = &reader->file;
    const struct flatbuffer_vector operators =
        flatbuffer_vector(file, graph, SUBGRAPH_OPERATORS, 4);

    for (uint32_t i = 0; i < operators.count; i++) {
        const struct flatbuffer_table table = flatbuffer_element_table(file, &operators, i);
        struct model_node *node;
        uint32_t code = 0;

        if (model_add_node(reader->model, &node, reader->fault) ||
            read_code(reader, &table, &code, node) ||
            read_list(reader, &table, OPERATOR_INPUTS, &node->inputs, &node->input_count) ||
            read_list(reader, &table, OPERATOR_OUTPUTS, &node->outputs, &node->output_count))
            return -1;
        if (tflite_read_options(file, &table, code, node))
            return fault_no_memory(reader->fault);
        if (check(reader))
            return -1;
    }
    return 0;
}

int tflite_read(struct model *model, struct fault *fault)
{
    struct reader reader = {.model = model, .fault = fault};
    struct flatbuffer *file = &reader.file;
    int result;

    flatbuffer_init(file, model->bytes, model->size);
    const struct flatbuffer_table root = flatbuffer_root(file, "TFL3");
    const struct flatbuffer_vector graphs = flatbuffer_vector(file, &root, MODEL_SUBGRAPHS, 4);
    model->version = (int64_t)flatbuffer_uint(file, &root, MODEL_VERSION, 4, 0);
    reader.codes = flatbuffer_vector(file, &root, MODEL_CODES, 4);
    reader.buffers = flatbuffer_vector(file, &root, MODEL_BUFFERS, 4);
    if (!file->problem && model->version != SCHEMA_VERSION)
        file->problem = "only version 3 of the schema can be read";
    if (!file->problem && graphs.count == 0)
        file->problem = "it has no subgraph";
    if (check(&reader))
        return -1;
    const struct flatbuffer_table graph = flatbuffer_element_table(file, &graphs, 0);
    result =
        check(&reader) || read_tensors(&reader, &graph) ||
                read_list(&reader, &graph, SUBGRAPH_INPUTS, &model->inputs, &model->input_count) ||
                read_list(&reader, &graph, SUBGRAPH_OUTPUTS, &model->outputs,
                          &model->output_count) ||
                read_operators(&reader, &graph)
            ? -1
            : 0;
    free(reader.index);
    return result;
}
