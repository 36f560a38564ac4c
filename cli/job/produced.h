/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that jobs have written by now, though not to the disk: the jobs of a chain read what those
 * before them write. `mlictl validate` moves nothing and only describes them; `mlictl batch` keeps
 * them in memory.
 */
#ifndef CLI_PRODUCED_H
#define CLI_PRODUCED_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/file/place.h"
#include "cli/tensor/tensor_file.h"

struct produced_file {
    struct place place;
    struct tensor_file file; /* what it holds; fd: itself, or -1 where it is only described */
    size_t next;             /* one of the same hash that came before: its index + 1, or 0 */
};

struct produced {
    bool memory;         /* outputs are made, in memory; else nothing is */
    bool without_golden; /* a golden file that is not there is no fault of the job */
    struct produced_file *files;
    size_t *heads;          /* by hash of the place: index + 1 of the file that came last, or 0 */
    size_t count, capacity; /* capacity: also of heads; a power of 2 */
};

void produced_finish(struct produced *produced);

/**
 * Notes that `path` now holds what `file` describes, in `fd` (owned from now on, also on failure)
 * or, with -1, nowhere. Returns 0 or -1 (no memory, or the directory is gone).
 */
int produced_add(struct produced *produced, const char *path, const struct tensor_file *file,
                 int fd);

/** What was produced at `path`; null where nothing was. Gone after the next produced_add(). */
const struct tensor_file *produced_find(const struct produced *produced, const char *path);

#endif /* CLI_PRODUCED_H */
