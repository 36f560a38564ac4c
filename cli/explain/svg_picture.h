/* SPDX-License-Identifier: BSD-3-Clause */
/* A move as a drawing: `mlictl explain --svg`. */
#ifndef CLI_SVG_PICTURE_H
#define CLI_SVG_PICTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/explain/explained.h"
#include "proto/json/textw.h"

/** Writes the whole drawing. The same move gives the same bytes. */
void svg_picture(struct textw *w, const struct explained *explained);

/**
 * Makes a file of it, which appears whole or not at all, and takes the place only of one that is
 * empty or begins like a drawing. Returns 0, or -1 with the fault.
 */
int svg_picture_save(const struct explained *explained, const char *path, struct fault *fault);

/* Where drawings go: the file of --svg, one of its own for each job. */
struct svg_target {
    const char *path; /* of --svg; null: nothing is drawn */
    size_t jobs;      /* that have a drawing */
    size_t files;     /* job files */
};

/** Whether it is standard output. */
bool svg_target_is_stdout(const struct svg_target *target);

/**
 * The file of job number `job` of job file number `file`, both from 0. One job: the path itself.
 * Else there stands before its ending "-NAME", or ".NUMBER" of a job without a name, and of several
 * job files the number of the file before that: no two are the same. Heap; null: out of memory.
 */
char *svg_target_path(const struct svg_target *target, size_t file, size_t job, const char *name);

#endif /* CLI_SVG_PICTURE_H */
