/* SPDX-License-Identifier: BSD-3-Clause */
/* Tensor files named on the command line, and the options that describe raw ones. */
#ifndef CLI_TENSOR_ARGS_H
#define CLI_TENSOR_ARGS_H

#include "cli/options.h"
#include "cli/tensor/tensor_file.h"

#define TENSOR_ARGS_OPTIONS                                                                        \
    {"format", 0, "FORMAT", "npy, raw, npz or safetensors, where the file's name does not tell",   \
     .takes = &file_format_value},                                                                 \
        {"tensor", 't', "NAME", "one of a .npz or .safetensors file"},                             \
        {"shape", 0, "4,6,8", "of a raw file, outermost first"},                                   \
        {"dtype", 0, "DTYPE", "of a raw file, as int16", .takes = &dtype_value},                   \
    {                                                                                              \
        "offset", 0, "BYTES", "of a raw file's first element"                                      \
    }

extern const struct value file_format_value;

/**
 * Reads --shape and --dtype into rank, shape and dtype of a header; both must be given. Returns 0,
 * or -1 after saying on stderr what is wrong.
 */
int tensor_args_header(const struct options *options, struct npy_header *header);

/** Reads the text of --shape into rank and shape. Returns 0, or -1 as above. */
int tensor_args_shape(const char *text, struct npy_header *header);

/** The file's format, by --format or by its name. Returns 0, or -1 as above. */
int tensor_args_format(const struct options *options, const char *path, enum file_format *format);

/**
 * The formats of all arguments. Refuses --tensor where none of them is an archive, and what only
 * describes raw files where one is not raw. Returns 0, or -1 as above.
 */
int tensor_args_formats(const struct options *options, enum file_format *formats);

/**
 * Opens the file as the options say, of an archive the tensor that --tensor names. Returns
 * EXIT_CODE_DONE, or another one after telling the reason (and nothing is open).
 */
enum exit_code tensor_args_open(const struct options *options, const char *path,
                                enum file_format format, struct tensor_file *file);

#endif /* CLI_TENSOR_ARGS_H */
