/* SPDX-License-Identifier: BSD-3-Clause */
/* Tensor files on the command line, and the options that describe raw files. */
#ifndef CLI_TENSOR_ARGS_H
#define CLI_TENSOR_ARGS_H

#include "cli/options.h"
#include "cli/tensor/tensor_file.h"

#define TENSOR_ARGS_OPTIONS                                                                        \
    {"format", 0, "FORMAT",                                                                        \
     "Read npy, raw, npz, safetensors, onnx, tflite or pb (default: by the file's ending).",       \
     .takes = &file_format_value},                                                                 \
        {"tensor", 't', "NAME", "Select a tensor of an archive or a model (default: all)."},       \
        {"shape", 0, "4,6,8",                                                                      \
         "Set the shape of a raw file, outermost dimension first (default: none)."},               \
        {"dtype", 0, "DTYPE", "Set the dtype of a raw file, as int16 (default: none).",            \
         .takes = &dtype_value},                                                                   \
    {                                                                                              \
        "offset", 0, "BYTES", "Set the position of a raw file's first element (default: 0 B)."     \
    }

extern const struct value file_format_value;

/**
 * Reads --shape and --dtype, which are required, into rank, shape and dtype of a header. Returns 0,
 * or -1 after an error message.
 */
int tensor_args_header(const struct options *options, struct npy_header *header);

/** Parses a value of --shape into rank and shape. Returns 0, or -1 after an error message. */
int tensor_args_shape(const char *text, struct npy_header *header);

/** Finds the file's format by --format or by its name. Returns 0, or -1 after an error message. */
int tensor_args_format(const struct options *options, const char *path, enum file_format *format);

/**
 * Finds the formats of all arguments. Refuses --tensor if no file is an archive, and --shape,
 * --dtype and --offset if a file is not raw. Returns 0, or -1 after an error message.
 */
int tensor_args_formats(const struct options *options, enum file_format *formats);

/**
 * Opens a file by the options; of an archive, the tensor that --tensor names. Returns
 * EXIT_CODE_DONE, or another code after an error message, with nothing open.
 */
enum exit_code tensor_args_open(const struct options *options, const char *path,
                                enum file_format format, struct tensor_file *file);

#endif /* CLI_TENSOR_ARGS_H */
