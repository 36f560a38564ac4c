/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that jobs would have written by now: `mlictl validate` moves nothing, yet the jobs of a
 * chain read what those before them write.
 */
#ifndef CLI_PRODUCED_H
#define CLI_PRODUCED_H

#include <stdbool.h>
#include <stddef.h>

#include "place.h"
#include "tensor_file.h"

struct produced_file {
    struct place place;
    struct tensor_file file; /* description only: fd -1 */
    size_t next;             /* one of the same hash that was written before: its index + 1, or 0 */
};

struct produced {
    struct produced_file *files;
    size_t *heads;          /* by hash of the place: index + 1 of the file written last, or 0 */
    size_t count, capacity; /* capacity: also of heads; a power of 2 */
};

void produced_finish(struct produced *produced);

/** Notes that `path` would now hold what `file` describes. Returns 0 or -1 (no memory). */
int produced_add(struct produced *produced, const char *path, const struct tensor_file *file);

/** Describes the file at `path` in *file (fd -1) if a job would have written it. */
bool produced_find(const struct produced *produced, const char *path, struct tensor_file *file);

#endif /* CLI_PRODUCED_H */
