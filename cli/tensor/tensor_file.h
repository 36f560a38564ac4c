/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tensor in a file: .npy, whose header says what it is, or raw, of which the user says it.
 * Either way `header` and `strides` describe it once it is open.
 */
#ifndef CLI_TENSOR_FILE_H
#define CLI_TENSOR_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "dtype.h"
#include "fault.h"
#include "job.h"
#include "npy.h"
#include "print.h"

struct tensor_file {
    const char *path;              /* borrowed */
    char shown[PRINT_PATH_MAX];    /* path, as messages name it */
    int fd;                        /* -1: a file that is known but not there yet */
    struct stat stat;              /* of the file when it was opened */
    bool npy;                      /* else raw */
    struct npy_header header;      /* raw files: all but fortran_order */
    int32_t strides[MLI_MAX_RANK]; /* in elements, never 0 */
    void *map;                     /* after tensor_file_map(): the file */
    const uint8_t *data;           /* and its first element */
};

/**
 * Opens a regular file for reading; never waits for anything. A .npy's header is read, a raw file
 * needs tensor_file_set_raw() next. Faults have no pointer. Returns 0 or -1 (nothing to close).
 */
int tensor_file_open(struct tensor_file *file, const char *path, bool npy, struct fault *fault);
/** The same of a file that is open; owns `fd` from now on, also on failure. */
int tensor_file_adopt(struct tensor_file *file, int fd, const char *path, bool npy,
                      struct fault *fault);
void tensor_file_close(struct tensor_file *file);

/**
 * Says what a raw file holds: `dtype`, `rank` and `shape` from `header`, its elements from
 * header->data_offset on, `strides` in elements (null or 0: packed). Refuses what the file is too
 * short for.
 */
int tensor_file_set_raw(struct tensor_file *file, const struct npy_header *header,
                        const int32_t *strides, struct fault *fault);

/** Bytes of the file but for a .npy's header. */
uint64_t tensor_file_content(const struct tensor_file *file);

/** Sets rank, shape and strides of a description to those of the file. */
void tensor_file_describe(const struct tensor_file *file, struct tensor_desc *desc);

/** Makes the elements readable at file->data. */
int tensor_file_map(struct tensor_file *file, struct fault *fault);

/** Bytes from the first element to the end of the last; false where they exceed 63 bits. */
bool tensor_span(const struct npy_header *header, const int32_t *strides, uint64_t *bytes);

/** Packed strides, in elements, last dimension 1; false where one exceeds 31 bits. */
bool tensor_pack(uint32_t rank, const uint32_t *shape, int32_t strides[MLI_MAX_RANK]);

#endif /* CLI_TENSOR_FILE_H */
