/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Manifests: lists of cases, one path on each line.
 */
#ifndef CLI_BATCH_MANIFEST_H
#define CLI_BATCH_MANIFEST_H

#include <stddef.h>

#include "cli/batch/cases.h"
#include "proto/json/fault.h"

struct manifest {
    struct cases *cases; /* gets the cases */
    const char *shown;   /* path of the manifest in messages */
    int prefix;          /* length of the directory in `path`, with the slash */
    const char *path;
    size_t line; /* number of the current line, from 1 */
    struct fault *fault;
};

/** Adds the cases of the manifest `path`; "-" is standard input. Returns 0, or -1. */
int manifest_add(struct cases *cases, const char *path, struct fault *fault);

/** Adds the cases of one line: none if it is empty or a comment. Returns 0, or -1. */
int manifest_take_line(const struct manifest *manifest, const char *line, size_t length);

/** Sets manifest->fault to "PATH:LINE: why". Returns -1. */
int manifest_refuse(const struct manifest *manifest, const char *why);

#endif /* CLI_BATCH_MANIFEST_H */
