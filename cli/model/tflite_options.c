/* SPDX-License-Identifier: BSD-3-Clause */
/* The operators of TFLite, and the options of those that move data. */
#include <string.h>

#include "cli/model/tflite.h"

/* The names of BuiltinOperator, by number. */
static const char *const operators[] = {"ADD",
                                        "AVERAGE_POOL_2D",
                                        "CONCATENATION",
                                        "CONV_2D",
                                        "DEPTHWISE_CONV_2D",
                                        "DEPTH_TO_SPACE",
                                        "DEQUANTIZE",
                                        "EMBEDDING_LOOKUP",
                                        "FLOOR",
                                        "FULLY_CONNECTED",
                                        "HASHTABLE_LOOKUP",
                                        "L2_NORMALIZATION",
                                        "L2_POOL_2D",
                                        "LOCAL_RESPONSE_NORMALIZATION",
                                        "LOGISTIC",
                                        "LSH_PROJECTION",
                                        "LSTM",
                                        "MAX_POOL_2D",
                                        "MUL",
                                        "RELU",
                                        "RELU_N1_TO_1",
                                        "RELU6",
                                        "RESHAPE",
                                        "RESIZE_BILINEAR",
                                        "RNN",
                                        "SOFTMAX",
                                        "SPACE_TO_DEPTH",
                                        "SVDF",
                                        "TANH",
                                        "CONCAT_EMBEDDINGS",
                                        "SKIP_GRAM",
                                        "CALL",
                                        "CUSTOM",
                                        "EMBEDDING_LOOKUP_SPARSE",
                                        "PAD",
                                        "UNIDIRECTIONAL_SEQUENCE_RNN",
                                        "GATHER",
                                        "BATCH_TO_SPACE_ND",
                                        "SPACE_TO_BATCH_ND",
                                        "TRANSPOSE",
                                        "MEAN",
                                        "SUB",
                                        "DIV",
                                        "SQUEEZE",
                                        "UNIDIRECTIONAL_SEQUENCE_LSTM",
                                        "STRIDED_SLICE",
                                        "BIDIRECTIONAL_SEQUENCE_RNN",
                                        "EXP",
                                        "TOPK_V2",
                                        "SPLIT",
                                        "LOG_SOFTMAX",
                                        "DELEGATE",
                                        "BIDIRECTIONAL_SEQUENCE_LSTM",
                                        "CAST",
                                        "PRELU",
                                        "MAXIMUM",
                                        "ARG_MAX",
                                        "MINIMUM",
                                        "LESS",
                                        "NEG",
                                        "PADV2",
                                        "GREATER",
                                        "GREATER_EQUAL",
                                        "LESS_EQUAL",
                                        "SELECT",
                                        "SLICE",
                                        "SIN",
                                        "TRANSPOSE_CONV",
                                        "SPARSE_TO_DENSE",
                                        "TILE",
                                        "EXPAND_DIMS",
                                        "EQUAL",
                                        "NOT_EQUAL",
                                        "LOG",
                                        "SUM",
                                        "SQRT",
                                        "RSQRT",
                                        "SHAPE",
                                        "POW",
                                        "ARG_MIN",
                                        "FAKE_QUANT",
                                        "REDUCE_PROD",
                                        "REDUCE_MAX",
                                        "PACK",
                                        "LOGICAL_OR",
                                        "ONE_HOT",
                                        "LOGICAL_AND",
                                        "LOGICAL_NOT",
                                        "UNPACK",
                                        "REDUCE_MIN",
                                        "FLOOR_DIV",
                                        "REDUCE_ANY",
                                        "SQUARE",
                                        "ZEROS_LIKE",
                                        "FILL",
                                        "FLOOR_MOD",
                                        "RANGE",
                                        "RESIZE_NEAREST_NEIGHBOR",
                                        "LEAKY_RELU",
                                        "SQUARED_DIFFERENCE",
                                        "MIRROR_PAD",
                                        "ABS",
                                        "SPLIT_V",
                                        "UNIQUE",
                                        "CEIL",
                                        "REVERSE_V2",
                                        "ADD_N",
                                        "GATHER_ND",
                                        "COS",
                                        "WHERE",
                                        "RANK",
                                        "ELU",
                                        "REVERSE_SEQUENCE",
                                        "MATRIX_DIAG",
                                        "QUANTIZE",
                                        "MATRIX_SET_DIAG",
                                        "ROUND",
                                        "HARD_SWISH",
                                        "IF",
                                        "WHILE",
                                        "NON_MAX_SUPPRESSION_V4",
                                        "NON_MAX_SUPPRESSION_V5",
                                        "SCATTER_ND",
                                        "SELECT_V2",
                                        "DENSIFY",
                                        "SEGMENT_SUM",
                                        "BATCH_MATMUL",
                                        "PLACEHOLDER_FOR_GREATER_OP_CODES",
                                        "CUMSUM",
                                        "CALL_ONCE",
                                        "BROADCAST_TO",
                                        "RFFT2D",
                                        "CONV_3D",
                                        "IMAG",
                                        "REAL",
                                        "COMPLEX_ABS",
                                        "HASHTABLE",
                                        "HASHTABLE_FIND",
                                        "HASHTABLE_IMPORT",
                                        "HASHTABLE_SIZE",
                                        "REDUCE_ALL",
                                        "CONV_3D_TRANSPOSE",
                                        "VAR_HANDLE",
                                        "READ_VARIABLE",
                                        "ASSIGN_VARIABLE",
                                        "BROADCAST_ARGS",
                                        "RANDOM_STANDARD_NORMAL",
                                        "BUCKETIZE",
                                        "RANDOM_UNIFORM",
                                        "MULTINOMIAL",
                                        "GELU",
                                        "DYNAMIC_UPDATE_SLICE",
                                        "RELU_0_TO_1",
                                        "UNSORTED_SEGMENT_PROD",
                                        "UNSORTED_SEGMENT_MAX",
                                        "UNSORTED_SEGMENT_SUM",
                                        "ATAN2",
                                        "UNSORTED_SEGMENT_MIN",
                                        "SIGN",
                                        "BITCAST",
                                        "BITWISE_XOR",
                                        "RIGHT_SHIFT"};

const char *tflite_operator(uint32_t code)
{
    return code < sizeof(operators) / sizeof(operators[0]) ? operators[code] : NULL;
}

/* Fields of Operator. */
enum { OPERATOR_OPTIONS_TYPE = 3, OPERATOR_OPTIONS = 4 };

/*
 * Options that become attributes: operator, number of the options in the union BuiltinOptions,
 * field, name. All are int32 but the activation, an enum of one byte.
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

int tflite_read_options(struct flatbuffer *file, const struct flatbuffer_table *operator,
                        uint32_t code, struct model_node *node)
{
    const uint32_t type = (uint32_t)flatbuffer_uint(file, operator, OPERATOR_OPTIONS_TYPE, 1, 0);
    const struct flatbuffer_table table = flatbuffer_table(file, operator, OPERATOR_OPTIONS);

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        const struct option *option = &options[i];
        struct model_attribute *attribute;

        if (!tflite_operator(code) || strcmp(tflite_operator(code), option->op) != 0)
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
