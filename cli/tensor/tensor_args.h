/* SPDX-License-Identifier: BSD-3-Clause */
/* Tensor files named on the command line, and the options that describe raw ones. */
#ifndef CLI_TENSOR_ARGS_H
#define CLI_TENSOR_ARGS_H

#include "options.h"
#include "tensor_file.h"

#define TENSOR_ARGS_OPTIONS                                                                        \
    {"format", 0, "npy|raw", "of the file, where its name does not tell (.npy, else raw)"},        \
        {"shape", 0, "4,6,8", "of a raw file, outermost first"},                                   \
        {"dtype", 0, "int16", "of a raw file"},                                                    \
    {                                                                                              \
        "offset", 0, "BYTES", "of a raw file's first element"                                      \
    }

/**
 * Reads --shape and --dtype into rank, shape and dtype of a header; both must be given. Returns 0,
 * or -1 after saying on stderr what is wrong.
 */
int tensor_args_header(const struct options *options, struct npy_header *header);

/** Reads the text of --shape into rank and shape. Returns 0, or -1 as above. */
int tensor_args_shape(const char *text, struct npy_header *header);

/** Whether the file is .npy, by --format or by its name. Returns 0, or -1 as above. */
int tensor_args_format(const struct options *options, char *path, bool *npy);

/**
 * Opens the file as the options say. Returns EXIT_CODE_DONE, or another one after telling the
 * reason (and nothing is open).
 */
enum exit_code tensor_args_open(const struct options *options, char *path,
                                struct tensor_file *file);

#endif /* CLI_TENSOR_ARGS_H */
