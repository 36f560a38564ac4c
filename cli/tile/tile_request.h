/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `mlictl tile`: this folder turns a command line into a plan of tiles and its outputs. Data flow:
 *
 *     options -> tile_request.c   the tensors, the layer, the board, the memory and the objective
 *             -> tile_result.c    plan, jobs, proof, times
 *                  -> tile_file.c      the job files: of the tiles, and to stitch the results
 *                  -> tile_report.c    tables for people, one JSON object for programs
 *                  -> tile_picture.c   all tiles on the tensor, as SVG
 *                  -> tile_timeline.c  the schedule as SVG (cli/explain/timeline_chart.h), and a
 *                                      trace
 *             -> tile_outputs.c   all files, which get their names together at the end
 *
 * To add an option, start here: add it to the table in cmd_tile.c and read it in tile_request.c.
 */
#ifndef CLI_TILE_REQUEST_H
#define CLI_TILE_REQUEST_H

#include "cli/options.h"
#include "proto/file/job_file.h"
#include "target/tile/tile_choice.h"

struct tile_request {
    const struct options *options;
    struct job_spec job;                     /* the source; of a move, the whole job */
    const char *in, *out;                    /* files, or null */
    const char *second, *weights;            /* files of --with and --weights, or null */
    const char *output, *directory, *stitch; /* --output, --tiles, --stitch, or null */
    mli_element_type type;
    const char *dtype[TILE_OPERANDS]; /* dtypes of the files of inputs; or null */
    struct tile_window window;        /* TILE_WINDOW */
    struct tile_layer layer;
    struct tile_memory memory;
    enum tile_objective objective; /* --least */
    struct tile_estimate estimate;
    bool has_board;                      /* --profile */
    struct target_profile profile;       /* with has_board */
    const struct profile_memory *inside; /* memory of the buffers; with has_board */
    struct tile_board board;             /* with has_board */
};

/* The words of --least. */
extern const struct value tile_least_value;

/**
 * Reads the options and opens the tensors to check their shapes. Borrows the options. Returns
 * EXIT_CODE_DONE, or another code after printing what is wrong. Finish with tile_request_finish()
 * in both cases.
 */
enum exit_code tile_request_init(struct tile_request *request, const struct options *options);
void tile_request_finish(struct tile_request *request);

/** Returns the bits of the operands that the job file loads: the weights only with --weights. */
uint32_t tile_request_loaded(const struct tile_request *request);

#endif /* CLI_TILE_REQUEST_H */
