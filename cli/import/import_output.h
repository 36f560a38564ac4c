/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The directory that `mlictl import` writes. It is made under a hidden name beside its final path,
 * and renamed when it is complete: at the final path it is complete or does not exist.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/file/npy.h"
#include "proto/json/fault.h"

struct import_output {
    char *path;   /* final path, without slashes at its end; null: not begun */
    char *hidden; /* path of the directory until import_output_commit() */
    int fd, data; /* descriptors of the directory and of data/ in it */
    bool replace; /* the final path has an earlier directory, which is replaced */
};

/* Names and texts by which an earlier output directory is recognised. */
#define IMPORT_LIST_FILE  "import.json"
#define IMPORT_LIST_BEGIN "{\n  \"mli_import\":"
#define IMPORT_DATA       "data"

/**
 * Begins a directory. If `path` exists, it must be empty, or, with `force`, an earlier output.
 * Returns 0, or -1 with the fault; call import_output_finish() in both cases.
 */
int import_output_init(struct import_output *output, const char *path, bool force,
                       struct fault *fault);

/** Writes a text file into the directory. */
int import_output_text(struct import_output *output, const char *name, const char *text,
                       size_t length, struct fault *fault);

/** Writes NAME.npy into data/. */
int import_output_tensor(struct import_output *output, const char *name, struct npy_header *header,
                         const uint8_t *elements, struct fault *fault);

/** Renames the directory to its final path, and removes an earlier directory there. */
int import_output_commit(struct import_output *output, struct fault *fault);

/** Removes a directory that was not committed. */
void import_output_finish(struct import_output *output);
