/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tensor in a file, and the head of this folder. Data flow:
 *
 *     path -> tensor_file.c   opens the file; a .npy's header is parsed by proto/file/npy.c
 *          -> archive.c       lists and unpacks .npz (npz.c), .safetensors (proto/file) and the
 *                             constants of models
 *          -> struct tensor_file: `header` and `strides` describe the elements of any format
 *               -> cli/job        moves them
 *               -> cli/diagnose   diffs them
 *               -> cli/cmd/cmd_show.c, archive_listing.c   show them
 *
 * A big-endian file is replaced by a copy before its elements are used (little_endian_replace()).
 *
 * tensor_args.c reads the options that describe a file, dtype.c converts elements, pattern.c
 * generates them.
 *
 * To add a tensor format, start here: add it to FILE_FORMAT_TABLE (proto/file/job_spec.h), write
 * a parser in proto/file that fills a struct npy_header, or a struct tensor_list for an archive,
 * and call it in read_open() of tensor_file.c, or in create() of archive.c. To add a dtype, extend
 * DTYPE_TABLE in proto/file/npy.h, and dtype.c if its elements are neither integers nor floats; to
 * add a pattern of `mlictl gen`, PATTERN_TABLE in pattern.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cli/options.h"
#include "cli/tensor/archive.h"
#include "cli/tensor/dtype.h"
#include "cli/term/exit_code.h"
#include "cli/term/print.h"
#include "proto/file/job_spec.h"
#include "proto/file/npy.h"
#include "proto/file/tensor_list.h"
#include "proto/json/fault.h"

enum { TENSOR_FILE_SHOWN_MAX = PRINT_PATH_MAX + 72 };

struct tensor_file {
    const char *path;                  /* borrowed */
    char shown[TENSOR_FILE_SHOWN_MAX]; /* name in messages: the path, or "path[tensor]" */
    int fd;                            /* descriptor; -1: the file does not exist yet */
    struct stat stat;                  /* fstat() of the descriptor when it was opened */
    enum file_format format;           /* never FILE_FORMAT_AUTO */
    struct npy_header
        header; /* header of the tensor; for raw files, all members except fortran_order */
    int32_t strides[TENSOR_RANK_MAX]; /* strides in elements, never 0 */
    struct file_map *map;             /* mapped pages, after tensor_file_map() */
    const uint8_t *data;              /* first element, after tensor_file_map() */
};

/**
 * Opens a regular file for reading, without blocking, and reads its header; a raw file needs
 * tensor_file_set_raw() next. `tensor`: name of a tensor in an archive, or null for the only
 * tensor. A tensor of a .npz is unpacked, and the descriptor is that of the copy. Faults have the
 * pointer "/tensor" if the name is wrong, else no pointer. Returns 0, or -1 with nothing to close.
 */
int tensor_file_open(struct tensor_file *file, const char *path, enum file_format format,
                     const char *tensor, struct fault *fault);
/** Like tensor_file_open(), for an open file. Takes ownership of `fd`, even on failure. */
int tensor_file_adopt(struct tensor_file *file, int fd, const char *path, enum file_format format,
                      const char *tensor, struct fault *fault);
/** Opens a file of any format without reading its header. Returns the same values as
 * tensor_file_open(). */
int tensor_file_open_bare(struct tensor_file *file, const char *path, enum file_format format,
                          struct fault *fault);
/** Reads the list of an archive opened by tensor_file_open_bare(). The caller calls
 *  archive_release(). Returns 0, or -1 with the fault. */
int tensor_file_archive(const struct tensor_file *file, struct archive **archive,
                        struct fault *fault);
/**
 * Selects the tensor `entry` of an archive that tensor_file_open_bare() opened: `file` then
 * describes this tensor. `bytes`: also accepts a tensor that no job can read; only data_offset and
 * data_size of file->header are valid then. Returns 0, or -1 with the fault.
 */
int tensor_file_enter(struct tensor_file *file, struct archive *archive, struct tensor_entry *entry,
                      bool bytes, struct fault *fault);
void tensor_file_close(struct tensor_file *file);

/**
 * Describes a raw file: dtype, rank, shape and data_offset from `header`, and `strides` in
 * elements (null, or entries of 0: see tensor_strides()). Refuses a description that exceeds the
 * file. Returns 0, or -1 with the fault.
 */
int tensor_file_set_raw(struct tensor_file *file, const struct npy_header *header,
                        const int32_t *strides, struct fault *fault);

/** Returns "a directory", "a fifo" and the like if this is what a path names, else null. */
const char *tensor_path_kind(const char *path);

/** Appends the name of a tensor to the name of its archive: "a.npz[w]". Returns `shown`. */
const char *tensor_file_name(char shown[TENSOR_FILE_SHOWN_MAX], const char *tensor);

/** Returns the size of the tensor in bytes; for a raw file, the size of the file. */
uint64_t tensor_file_content(const struct tensor_file *file);

/** Copies rank, shape and strides of the file to a description. */
void tensor_file_describe(const struct tensor_file *file, struct tensor_desc *desc);

/** Replaces the descriptor by a copy of the elements in memory; ^C ends it. Returns 0 or -1. */
int tensor_file_lift(struct tensor_file *file, struct fault *fault);

/**
 * Maps the elements at file->data, little-endian. If the file shrinks afterwards, or its storage
 * fails, missing pages read as zeros: call tensor_file_check() before using the elements. Returns 0
 * or -1.
 */
int tensor_file_map(struct tensor_file *file, struct fault *fault);

/**
 * Returns 0 if no page has been missing since tensor_file_map(), or if the file is not mapped; else
 * -1 with FAULT_IO_ERROR.
 */
int tensor_file_check(const struct tensor_file *file, struct fault *fault);

/**
 * Computes the bytes from the first element to the end of the last one. Returns false if they
 * exceed 2^63.
 */
bool tensor_span(const struct npy_header *header, const int32_t *strides, uint64_t *bytes);

/**
 * Computes the strides in elements: given[d], or, if `given` is null or given[d] is 0, the next
 * inner stride times its extent (innermost: 1). Returns false if a stride exceeds 31 bits.
 */
bool tensor_strides(uint32_t rank, const uint32_t *shape, const int32_t *given,
                    int32_t strides[TENSOR_RANK_MAX]);

/*
 * Big-endian .npy files. All other code sees little-endian elements, on every host: before the
 * first access to the elements, a big-endian file is replaced by a little-endian copy in memory.
 */

/**
 * Copies a big-endian .npy file, header included, into a little-endian file in memory of the same
 * size. Refuses files above half of the memory; ^C ends the copy. Returns a descriptor, which the
 * caller closes, or -1 with the fault.
 */
int little_endian_copy(const struct tensor_file *file, struct fault *fault);

/** Replaces the descriptor of a big-endian file by the descriptor of little_endian_copy(). Does
 * nothing for other files. Returns 0, or -1 with the fault. */
int little_endian_replace(struct tensor_file *file, struct fault *fault);

/* Names of tensor files on the command line, and the options that describe raw files. */

extern const struct value file_format_value;

#define TENSOR_ARGS_OPTIONS                                                                        \
    {"format", "FORMAT",                                                                           \
     "Read npy, raw, npz, safetensors, onnx, tflite or pb (default: by the file's ending).",       \
     .takes = &file_format_value},                                                                 \
        {"tensor", "NAME", "Select a tensor of an archive or a model (default: all)."},            \
        {"shape", "LIST",                                                                          \
         "Set the shape of a raw file, outermost dimension first: 4,6,8 (default: none)."},        \
        {"dtype", "DTYPE", "Set the dtype of a raw file, such as int16 (default: none).",          \
         .takes = &dtype_value},                                                                   \
        OPTION("offset", "BYTES",                                                                  \
               "Set the position of a raw file's first element (default: 0 B).")

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

/** Opens the file that the options describe; in an archive, the tensor that --tensor names.
 * Returns EXIT_CODE_DONE, or another code after an error message, with nothing open. */
enum exit_code tensor_args_open(const struct options *options, const char *path,
                                enum file_format format, struct tensor_file *file);

/* The list of an archive's tensors, for people and programs. */

/** Prints all tensors of an archive. */
enum exit_code archive_listing_show(const struct print_style *style, const char *path,
                                    enum file_format format);

enum { ARCHIVE_LISTING_SHAPE_MAX = 96 };
/** Writes a shape of any rank: "(4, 6, 8)"; cuts a long one. Returns `out`. */
const char *archive_listing_shape(const struct tensor_entry *entry,
                                  char out[ARCHIVE_LISTING_SHAPE_MAX]);

/** Writes dtype and shape as members of the open object; null if they are not known. */
void archive_listing_json_outline(struct jsonw *w, const struct tensor_entry *entry);
