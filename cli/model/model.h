/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A neural network in a file, as a plain graph: tensors, and nodes that compute tensors from
 * tensors. This is the main header of the folder. Data flow:
 *
 *     ONNX bytes, a TensorProto (.pb) -> protobuf.c   -> onnx.c    -+
 *     TFLite bytes                    -> flatbuffer.c -> tflite.c  -+-> struct model
 *
 * The readers copy names, shapes and attributes. The elements of a constant are not copied if they
 * are little-endian and packed in the file.
 *
 * To add a format, start here: write a reader that fills a struct model with functions of model.c,
 * call the reader in model_read.c, and extend FILE_FORMAT_TABLE (proto/file/job_spec.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/file/job_spec.h"
#include "proto/json/fault.h"

enum {
    MODEL_RANK_MAX = 16,         /* maximum number of dimensions of a tensor */
    MODEL_TENSORS_MAX = 1 << 20, /* maximum number of tensors of a model */
    MODEL_NODES_MAX = 1 << 18,   /* maximum number of nodes of a model */
    MODEL_SCALES_MAX = 1 << 23,  /* maximum number of quantisation parameters of a model */
    MODEL_NAME_MAX = 1023,       /* maximum number of bytes of a name, as in job files */
    MODEL_WORD_MAX = 64          /* maximum number of bytes of a name that messages quote */
};

/* In place of the index of a tensor: the node lacks this optional input or output. */
#define MODEL_ABSENT SIZE_MAX

/* The extent of a dimension that the model leaves open. */
#define MODEL_OPEN (-1)

/*
 * The element types of models. X(id, name, kind, size): `name` as in NumPy, else as in ONNX;
 * `kind` as in struct npy_header; 'c': complex; 's': the elements are not whole bytes (size 0).
 */
#define MODEL_DTYPE_TABLE(X)                                                                       \
    X(FLOAT32, "float32", 'f', 4)                                                                  \
    X(FLOAT16, "float16", 'f', 2)                                                                  \
    X(BFLOAT16, "bfloat16", 'u', 2)                                                                \
    X(FLOAT64, "float64", 'f', 8)                                                                  \
    X(INT8, "int8", 'i', 1)                                                                        \
    X(INT16, "int16", 'i', 2)                                                                      \
    X(INT32, "int32", 'i', 4)                                                                      \
    X(INT64, "int64", 'i', 8)                                                                      \
    X(UINT8, "uint8", 'u', 1)                                                                      \
    X(UINT16, "uint16", 'u', 2)                                                                    \
    X(UINT32, "uint32", 'u', 4)                                                                    \
    X(UINT64, "uint64", 'u', 8)                                                                    \
    X(BOOL, "bool", 'b', 1)                                                                        \
    X(FLOAT8, "float8", 'u', 1)                                                                    \
    X(COMPLEX64, "complex64", 'c', 8)                                                              \
    X(COMPLEX128, "complex128", 'c', 16)                                                           \
    X(INT4, "int4", 's', 0)                                                                        \
    X(STRING, "string", 's', 0)                                                                    \
    X(OTHER, "another type", 's', 0)

enum model_dtype_id {
#define MODEL_DTYPE_ENUM(id, ...) MODEL_##id,
    MODEL_DTYPE_TABLE(MODEL_DTYPE_ENUM)
#undef MODEL_DTYPE_ENUM
};

struct model_dtype {
    enum model_dtype_id id;
    const char *name;
    char kind;
    uint32_t size; /* bytes of an element; 0: not whole bytes */
};

/* Where the elements of a tensor are. */
enum model_place {
    MODEL_NOWHERE,   /* the tensor is no constant */
    MODEL_IN_FILE,   /* in the file of the model, at `offset` */
    MODEL_IN_MEMORY, /* decoded by the reader, at `memory` */
    MODEL_OUTSIDE    /* in the file `location`, at `offset` */
};

/* Quantisation: real value = (element - zero_point) * scale. */
struct model_quant {
    uint32_t count;      /* number of scales; 0: not quantised; 1: for the whole tensor */
    int32_t axis;        /* several scales: the dimension with one scale per coordinate */
    float *scale;        /* owned */
    int64_t *zero_point; /* owned, `count` entries */
};

struct model_dim {
    int64_t extent; /* MODEL_OPEN: unknown */
    char *name;     /* name of an unknown extent, owned; or null */
};

/*
 * The kinds of values in ONNX. Only tensors have a type, a shape and elements. A value of another
 * kind has items: these are tensors of the model, too.
 */
enum model_kind { MODEL_TENSOR, MODEL_SEQUENCE, MODEL_OPTIONAL, MODEL_OPTIONAL_SEQUENCE };

struct model_tensor {
    char *name; /* unique in the model; never empty */
    enum model_kind kind;
    size_t first, item_count;        /* not MODEL_TENSOR: first item; number of items or 0 */
    const struct model_dtype *dtype; /* null: unknown */
    bool has_shape;
    uint32_t rank;
    struct model_dim *dims;
    enum model_place place;
    uint64_t offset, bytes; /* position of the elements; `bytes` agrees with dtype and shape */
    uint8_t *memory;        /* owned */
    char *location;         /* owned: a relative path without ".." */
    char *refusal;          /* the reason why the elements of a constant cannot be used; or null */
    struct model_quant quant;
};

/* A parameter of a node. */
struct model_attribute {
    char *name;
    enum { MODEL_INT, MODEL_INTS, MODEL_FLOAT, MODEL_TEXT, MODEL_OTHER_VALUE } kind;
    int64_t i;
    float f;
    char *text;
    int64_t *ints;
    size_t count;
};

struct model_node {
    char *name;   /* may be empty */
    char *op;     /* the name of the operator in the format */
    char *domain; /* ONNX: domain of the operator, "" for ONNX's own operators; or null */
    size_t *inputs, *outputs; /* indices of tensors, or MODEL_ABSENT */
    size_t input_count, output_count;
    struct model_attribute *attributes;
    size_t attribute_count;
};

struct model {
    enum file_format format;
    const uint8_t *bytes; /* the file; borrowed */
    uint64_t size;
    struct model_tensor *tensors;
    size_t tensor_count, tensor_capacity;
    struct model_node *nodes;
    size_t node_count, node_capacity;
    size_t *inputs, *outputs; /* inputs and outputs of the graph: tensors that are no constants */
    size_t input_count, output_count;
    int64_t version;      /* ONNX: version of the operators; TFLite: version of the schema */
    size_t *slots;        /* hash table of the names of tensors: 1 + index of a tensor, or 0 */
    size_t slot_count;    /* a power of two */
    uint64_t scale_count; /* quantisation parameters of all tensors */
};

/**
 * Reads the `size` bytes of a file of the format ONNX, PB or TFLITE. The bytes must stay in place
 * until model_finish(). The bytes may change meanwhile: every access is checked. Returns 0, or -1
 * with a fault that does not name the file, and nothing to finish. Thread-safe.
 */
int model_read(struct model *model, enum file_format format, const uint8_t *bytes, uint64_t size,
               struct fault *fault);
/**
 * Reads a file of one value of ONNX: by `kind`, a TensorProto, SequenceProto or OptionalProto. The
 * model then has the tensors of the value, in their order. Otherwise like model_read().
 */
int model_read_value(struct model *model, enum model_kind kind, const uint8_t *bytes, uint64_t size,
                     struct fault *fault);
void model_finish(struct model *model);

/** Returns the tensor with this name, or MODEL_ABSENT. */
size_t model_find(const struct model *model, const char *name);

/** Returns the elements of a constant in the model's file or in memory; of other tensors null. */
const uint8_t *model_elements(const struct model *model, const struct model_tensor *tensor);

/** Computes the number of bytes of a tensor; false: unknown, or it exceeds 2^62. */
bool model_tensor_bytes(const struct model_tensor *tensor, uint64_t *bytes);

/** Returns an attribute of a node, or null. */
const struct model_attribute *model_attribute(const struct model_node *node, const char *name);

const struct model_dtype *model_dtype(enum model_dtype_id id);

/* Functions for the readers of formats. Unless stated otherwise they return 0, or -1 (*fault). */

/**
 * Adds a tensor and sets *index. The name need not be terminated. If a tensor has this name
 * already: without `unique` sets *index to that tensor, with `unique` appends "#INDEX" to the
 * name. An empty name becomes "#INDEX".
 */
int model_add_tensor(struct model *model, const char *name, size_t length, bool unique,
                     size_t *index, struct fault *fault);
/** Adds an empty node and sets *node, which is valid until the next call. */
int model_add_node(struct model *model, struct model_node **node, struct fault *fault);
/** Adds an empty attribute with this name. Returns null if out of memory. */
struct model_attribute *model_add_attribute(struct model_node *node, const char *name,
                                            size_t length);
/** Copies a shape to a tensor, with the names of the dimensions (or null). */
int model_set_shape(struct model_tensor *tensor, const struct model_dim *dims, size_t rank,
                    struct fault *fault);
/** Replaces the quantisation of a tensor by a copy of `quant`. */
int model_set_quant(struct model *model, struct model_tensor *tensor,
                    const struct model_quant *quant, struct fault *fault);
/** Appends a tensor's index to a list. Returns 0 or -1 (no memory). */
int model_push(size_t **list, size_t *count, size_t index);
/** Copies text that need not be terminated; removes zero bytes. Returns null if out of memory. */
char *model_text(const char *text, size_t length);
/** Sets the refusal of each constant whose elements do not match its type and shape. */
int model_check_constants(struct model *model, struct fault *fault);

/* The values of small constants, such as the permutation of a transpose. */

/**
 * Copies the elements of an integer constant to `out`. Returns their number, or -1 if the tensor
 * is no constant of an integer type, or has more than `max` elements.
 */
int model_integers(const struct model *model, size_t tensor, int64_t *out, int max);

/**
 * Copies the elements of a float32 constant to a new array, which the caller frees. Returns null,
 * with *count 0, if the tensor is no float32 constant, or if there is no memory.
 */
float *model_floats(const struct model *model, size_t tensor, uint32_t *count);

/** Returns the number of elements of a constant, computed from tensor->bytes. */
uint64_t model_element_count(const struct model_tensor *tensor);

/*
 * ONNX models, and files of one value (.pb): a tensor, or a sequence of tensors. The numbers of
 * fields and types are those of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
 */

/** Reads the graph of a ModelProto; see model_read(). The model may be incomplete on failure. */
int onnx_read(struct model *model, struct fault *fault);
/** Reads a TensorProto as a model of one constant; its name may be missing in the file. */
int onnx_read_tensor_file(struct model *model, struct fault *fault);
/** Reads the tensors of a SequenceProto or OptionalProto as constants "[0]", "[1]", ... */
int onnx_read_items(struct model *model, enum model_kind kind, struct fault *fault);

/** Returns the type with this number in TensorProto.DataType; null: 0, which is UNDEFINED. */
const struct model_dtype *onnx_dtype(uint64_t number);

/*
 * TensorFlow Lite models: FlatBuffers with the identifier TFL3. The ids of fields, operators and
 * types are those of version 3 of the schema
 * (https://github.com/tensorflow/tflite-micro/blob/main/tensorflow/lite/schema/schema.fbs).
 */

/**
 * Reads the first subgraph, which is the main one; see model_read(). Names of tensors become
 * unique. The model may be incomplete on failure.
 */
int tflite_read(struct model *model, struct fault *fault);
