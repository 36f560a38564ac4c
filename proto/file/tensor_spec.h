/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tensor of a job file: the file or buffer that holds it and the members of "src", "dst" and
 * "expect".
 */
#ifndef PROTO_TENSOR_SPEC_H
#define PROTO_TENSOR_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/job_common.h"
#include "proto/wire/tensor_desc.h"

/* X(name, word): `word` is the value of "format" and the ending of the names of these files. */
#define FILE_FORMAT_TABLE(X)                                                                       \
    X(NPY, "npy")                                                                                  \
    X(RAW, "raw") /* the format of files with any other ending, too */                             \
    X(NPZ, "npz")                                                                                  \
    X(SAFETENSORS, "safetensors")                                                                  \
    X(ONNX, "onnx")     /* a model: its constants */                                               \
    X(TFLITE, "tflite") /* a model: its constants */                                               \
    X(PB, "pb")         /* a tensor of ONNX (TensorProto) */

enum file_format {
    FILE_FORMAT_AUTO = 0, /* the format follows from the name's ending */
#define FILE_FORMAT_ENUM(name, word) FILE_FORMAT_##name,
    FILE_FORMAT_TABLE(FILE_FORMAT_ENUM)
#undef FILE_FORMAT_ENUM
};

/* The dtypes of .npy files. X(name, descr, kind, size, exact_max) */
#define DTYPE_TABLE(X)                                                                             \
    X("int8", "|i1", 'i', 1, INT8_MAX)                                                             \
    X("uint8", "|u1", 'u', 1, UINT8_MAX)                                                           \
    X("int16", "<i2", 'i', 2, INT16_MAX)                                                           \
    X("uint16", "<u2", 'u', 2, UINT16_MAX)                                                         \
    X("int32", "<i4", 'i', 4, INT32_MAX)                                                           \
    X("uint32", "<u4", 'u', 4, UINT32_MAX)                                                         \
    X("float16", "<f2", 'f', 2, 1u << 11)                                                          \
    X("float32", "<f4", 'f', 4, 1u << 24)                                                          \
    X("bool", "|b1", 'b', 1, 1)

struct tensor_spec {
    char *file;                   /* as written in the job: relative to the job file; or null */
    char *buffer;                 /* name of a buffer of the job file; or null */
    size_t buffer_index;          /* with `buffer`: index into the buffers of the job file */
    enum file_format format;      /* as written in the job */
    char *tensor;                 /* src: name in an archive; null: the archive's only tensor */
    bool update;                  /* dst: write into the existing tensor */
    char *params;                 /* dst: file for the result's quantisation parameters; or null */
    const char *dtype;            /* src, raw files and buffers: name in static storage, or null */
    uint64_t offset;              /* raw files and buffers: bytes before the first element */
    char memory[MEMORY_NAME_MAX]; /* name of a memory of a target profile, in which the tensor is
                                     placed; or empty */
    struct tensor_desc desc;
};

/** The words of all formats, from FILE_FORMAT_AUTO + 1 on; null-terminated. */
extern const char *const file_format_words[];
/** Returns the word of a format other than FILE_FORMAT_AUTO. Static storage. */
const char *file_format_word(enum file_format format);
/** Returns the format with that word, or FILE_FORMAT_AUTO if no format has this word. */
enum file_format file_format_from_word(const char *word);
/**
 * Returns whether files of this format hold several named tensors. mlictl reads such files but
 * never writes them.
 */
bool file_format_is_archive(enum file_format format);
/** Returns whether the descriptor of an open archive is that of the whole file, not of a tensor. */
bool file_format_is_in_place(enum file_format format);
/** Returns the format of a file by the ending of its name. */
enum file_format file_format_of_name(const char *file);

/** Frees the strings and the description; `struct tensor_spec spec = {0}` is an empty spec. */
void tensor_spec_finish(struct tensor_spec *spec);
/** Returns `format`, with FILE_FORMAT_AUTO resolved by the file's name. */
enum file_format tensor_spec_format(const struct tensor_spec *spec);

/* Private to proto/file. Readers return 0, or -1 with the object's fault filled. */

/** The allowed members of "src" and of "dst", null-terminated. */
extern const char *const tensor_spec_src_keys[], *const tensor_spec_dst_keys[];

/** Reads all members except the tensor's description; each member may be absent. */
int tensor_spec_read_place(struct tensor_spec *spec, const struct json *object);
/** Writes these members, without "offset", into the object that is open. */
void tensor_spec_write_place(struct jsonw *w, const struct tensor_spec *spec);
/** Refuses the member "tensor" if the file is not an archive. */
int tensor_spec_check_archive(const struct tensor_spec *spec, const struct json *object);

int tensor_spec_read_src(struct tensor_spec *src, const struct json *object);
/** Reads "dst" and checks its parameters against the type of `src`. */
int tensor_spec_read_dst(struct tensor_spec *dst, const struct tensor_spec *src,
                         const struct json *object);

#endif /* PROTO_TENSOR_SPEC_H */
