/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Outputs of earlier jobs that are not on the disk, for the later jobs that read them. `mlictl
 * validate` moves no data and only describes the files; `mlictl batch` keeps them in memory.
 */
#pragma once

#include <stdbool.h>

#include "cli/file/place.h"
#include "cli/tensor/tensor_file.h"

struct produced_file {
    struct place place;      /* first, for place_compare() */
    struct tensor_file file; /* content of the file; fd: -1 if the file is only described */
};

struct produced {
    bool memory; /* true: outputs are written to memory; false: outputs are only described */
    bool without_golden; /* true: a missing golden file is not an error */
    void *files;         /* tree of struct produced_file, by place */
};

void produced_finish(struct produced *produced);

/**
 * Adds the file `path`, which a job has written or will write. *file describes the tensor in it.
 * `fd` has the content, and belongs to *produced from now on, also after a failure. With an fd of
 * -1 only the description is known. Then the directory need not exist, and nothing is added if no
 * file can be at the path. Returns 0 or -errno: out of memory, or the directory cannot be looked
 * up.
 */
int produced_add(struct produced *produced, const char *path, const struct tensor_file *file,
                 int fd);

/**
 * Sets *found to the file at `path`, valid until the next produced_add() of this file, or to null.
 * Returns 0; or -1 with errno set if it is unknown which file the path means.
 */
int produced_find(const struct produced *produced, const char *path,
                  const struct tensor_file **found);
