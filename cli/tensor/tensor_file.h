/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tensor in a file: .npy, whose header says what it is, one of several in an archive, or raw, of
 * which the user says it. Either way `header` and `strides` describe it once it is open.
 */
#ifndef CLI_TENSOR_FILE_H
#define CLI_TENSOR_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cli/tensor/archive.h"
#include "cli/tensor/dtype.h"
#include "cli/term/print.h"
#include "proto/file/npy.h"
#include "proto/file/tensor_spec.h"
#include "proto/json/fault.h"

enum { TENSOR_FILE_SHOWN_MAX = PRINT_PATH_MAX + 72 };

struct tensor_file {
    const char *path;                  /* borrowed */
    char shown[TENSOR_FILE_SHOWN_MAX]; /* as messages name it: the path, "path[tensor]" */
    int fd;                            /* -1: a file that is known but not there yet */
    struct stat stat;                  /* of that descriptor when it was opened */
    enum file_format format;           /* never FILE_FORMAT_AUTO */
    struct npy_header header;          /* raw files: all but fortran_order */
    int32_t strides[MLI_MAX_RANK];     /* in elements, never 0 */
    struct tensor_map *map;            /* after tensor_file_map(): its pages */
    const uint8_t *data;               /* and its first element */
};

/**
 * Opens a regular file for reading; never waits for anything. What its header says is read, a raw
 * file needs tensor_file_set_raw() next. `tensor`: which one of an archive, null: the only one; one
 * of a .npz is unpacked, and the descriptor is that of the copy. Faults have no pointer, but
 * "/tensor" where that is what is wrong. Returns 0 or -1 (nothing to close).
 */
int tensor_file_open(struct tensor_file *file, const char *path, enum file_format format,
                     const char *tensor, struct fault *fault);
/** The same of a file that is open; owns `fd` from now on, also on failure. */
int tensor_file_adopt(struct tensor_file *file, int fd, const char *path, enum file_format format,
                      const char *tensor, struct fault *fault);
/** Opens a file of any format and reads nothing of it yet. As tensor_file_open(). */
int tensor_file_open_bare(struct tensor_file *file, const char *path, enum file_format format,
                          struct fault *fault);
/** What an archive that is open bare holds; archive_release() when done. Returns 0 or -1. */
int tensor_file_archive(const struct tensor_file *file, struct archive **archive,
                        struct fault *fault);
/**
 * Makes an archive that is open bare the tensor that an entry of it says. With `bytes` one that no
 * job can take is accepted: only data_offset and data_size of its header are filled then. Returns 0
 * or -1.
 */
int tensor_file_enter(struct tensor_file *file, struct archive *archive, struct tensor_entry *entry,
                      bool bytes, struct fault *fault);
void tensor_file_close(struct tensor_file *file);

/**
 * Says what a raw file holds: `dtype`, `rank` and `shape` from `header`, its elements from
 * header->data_offset on, `strides` in elements (null or 0: see tensor_strides()). Refuses what the
 * file is too short for.
 */
int tensor_file_set_raw(struct tensor_file *file, const struct npy_header *header,
                        const int32_t *strides, struct fault *fault);

/** Appends the name of a tensor to that of its archive: "a.npz[w]". Returns `shown`. */
const char *tensor_file_name(char shown[TENSOR_FILE_SHOWN_MAX], const char *tensor);

/** Bytes of the tensor; of a raw file those of the file. */
uint64_t tensor_file_content(const struct tensor_file *file);

/** Sets rank, shape and strides of a description to those of the file. */
void tensor_file_describe(const struct tensor_file *file, struct tensor_desc *desc);

/** Makes the descriptor that of a copy of the elements alone, in memory. ^C ends it. */
int tensor_file_lift(struct tensor_file *file, struct fault *fault);

/**
 * Maps the elements at file->data. Where the file shrinks afterwards, or its storage fails, the
 * missing pages read as zeros: call tensor_file_check() before using what was read.
 */
int tensor_file_map(struct tensor_file *file, struct fault *fault);

/**
 * Returns 0 if every page that was read since tensor_file_map() was the file's own, or if the file
 * is not mapped; else -1 with the fault filled (FAULT_IO_ERROR).
 */
int tensor_file_check(const struct tensor_file *file, struct fault *fault);

/** Bytes from the first element to the end of the last; false where they exceed 63 bits. */
bool tensor_span(const struct npy_header *header, const int32_t *strides, uint64_t *bytes);

/**
 * Fills in the strides in force, in elements: `given`, or where that is null or 0 the next inner
 * stride times its extent (the innermost: 1). False where one exceeds 31 bits.
 */
bool tensor_strides(uint32_t rank, const uint32_t *shape, const int32_t *given,
                    int32_t strides[MLI_MAX_RANK]);

#endif /* CLI_TENSOR_FILE_H */
