/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the job file that moves the tiles of a plan, and the job file that stitches results. */
#ifndef CLI_TILE_FILE_H
#define CLI_TILE_FILE_H

#include "cli/tile/tile_result.h"
#include "proto/json/textw.h"

/**
 * Writes the text of the job file that moves the tiles. File names become relative to `path`, the
 * job file; if it is "-", they stay as they are. Returns 0, or -1 with the fault.
 */
int tile_file_jobs(struct textw *text, const struct tile_result *result, const char *path,
                   struct fault *fault);

/** Writes the text of the job file that stitches results, likewise. */
int tile_file_stitch(struct textw *text, const struct tile_result *result, const char *path,
                     struct fault *fault);

enum { TILE_PATH_MAX = 4096 };
/** Writes the path of a tile's file in the directory of --tiles: "DIR/in_3.npy". Returns `out`. */
const char *tile_file_path(const char *directory, const char *operand, uint64_t number,
                           char out[TILE_PATH_MAX]);

/** Returns the name of an operand in the names of files: "in", "second", "weights" or "out". */
const char *tile_file_word(const struct tile_layer *layer, uint32_t operand);

#endif /* CLI_TILE_FILE_H */
