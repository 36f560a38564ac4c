/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of --output, --stitch, --svg, --timeline and --trace, and the directory of --tiles. */
#ifndef CLI_TILE_OUTPUTS_H
#define CLI_TILE_OUTPUTS_H

#include "cli/file/output.h"
#include "cli/tile/tile_result.h"
#include "proto/json/textw.h"

/* X(name, option) */
#define TILE_FILE_TABLE(X)                                                                         \
    X(JOBS, "output")                                                                              \
    X(STITCH, "stitch")                                                                            \
    X(SVG, "svg")                                                                                  \
    X(TIMELINE, "timeline")                                                                        \
    X(TRACE, "trace")

enum tile_file {
#define TILE_FILE_ENUM(name, option) TILE_FILE_##name,
    TILE_FILE_TABLE(TILE_FILE_ENUM)
#undef TILE_FILE_ENUM
        TILE_FILES_MAX
};

struct tile_outputs {
    const struct tile_result *result;
    const char *path[TILE_FILES_MAX]; /* or null; "-": standard output */
    struct output file[TILE_FILES_MAX];
    struct textw text[TILE_FILES_MAX];
    bool made;            /* the directory of --tiles is new */
    const char *at_fault; /* the file that the fault is about, or null */
};

/** Returns whether an output is "-": then nothing else is printed. */
bool tile_outputs_on_stdout(const struct options *options);

/**
 * Creates all files without their names, and writes them. Refuses "-" for two outputs or with
 * --json, and two uses of one file; files of the tiles count, too. Borrows the result. Returns 0,
 * or -1 with the fault. Finish with tile_outputs_finish() in both cases.
 */
int tile_outputs_init(struct tile_outputs *outputs, const struct tile_result *result,
                      struct fault *fault);

/** Gives all files their names, and prints the output that is "-". Returns 0 or -1. */
int tile_outputs_commit(struct tile_outputs *outputs, struct fault *fault);

/** Removes what has no name yet. */
void tile_outputs_finish(struct tile_outputs *outputs);

#endif /* CLI_TILE_OUTPUTS_H */
