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
#pragma once

#include "cli/file/output.h"
#include "cli/options.h"
#include "proto/file/job_file.h"
#include "proto/json/jsonw.h"
#include "target/tile/tile_choice.h"

struct tile_request {
    const struct options *options;
    struct job_spec job;                     /* job with the source; for a move, the whole job */
    const char *in, *out;                    /* paths of IN and OUT, or null */
    const char *second, *weights;            /* files of --with and --weights, or null */
    const char *output, *directory, *stitch; /* --output, --tiles, --stitch, or null */
    mli_element_type type;
    const char *dtype[TILE_OPERANDS]; /* dtypes of the files of inputs, or null */
    struct tile_window window;        /* for TILE_WINDOW */
    struct tile_layer layer;
    struct tile_memory memory;
    enum tile_objective objective; /* --least */
    struct tile_estimate estimate;
    bool has_board;                      /* true: --profile was given */
    struct target_profile profile;       /* only if has_board */
    const struct profile_memory *inside; /* memory of the buffers; only if has_board */
    struct tile_board board;             /* only if has_board */
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

/* The plan of a request, its jobs, the proof that they are safe, and their times. */
struct tile_result {
    const struct tile_request *request; /* borrowed */
    struct tile_plan plan;
    struct tile_timed other;   /* the best plan by the other objective; only with a board */
    struct tile_jobs firmware; /* loads, kernels and stores of a firmware that follows the plan */
    struct tile_use *uses;     /* uses[i]: the memory that firmware.job[i] reads and writes */
    struct cost_times times;   /* times of the firmware's jobs; only with a board */
    struct tile_jobs file;     /* the jobs of the job file */
    uint64_t plan_ns;          /* processor time of the search */
};

/**
 * Plans the request, and checks that the jobs of the firmware and of the job file use the memory
 * safely. Borrows the request. Returns 0, or -1 with the fault. Finish with tile_result_finish() in
 * both cases.
 */
int tile_result_init(struct tile_result *result, const struct tile_request *request,
                     struct fault *fault);
void tile_result_finish(struct tile_result *result);

/** Returns whether the best plan by the other objective differs from `plan`. */
bool tile_result_has_other(const struct tile_result *result);

/** Returns the number of transfers of an operand: loads, or stores of the output. */
uint64_t tile_result_transfers(const struct tile_result *result, uint32_t operand);

/** Writes the name of an operand: "input", "second", "weights" or "output". */
const char *tile_operand_name(const struct tile_layer *layer, uint32_t operand);

/** Writes the name of a buffer: "in0", "second1", "weights0", "out1". Returns `out`. */
const char *tile_buffer_name(const struct tile_plan *plan, uint32_t operand, uint32_t buffer,
                             char out[TILE_NAME_MAX]);

/** Writes the name of an axis: "rows", "columns", "channels", "input channels", or "dim 2". */
const char *tile_axis_name(const struct tile_layer *layer, uint32_t axis, char out[TILE_NAME_MAX]);

/* Writes the job file that moves the tiles of a plan, and the job file that stitches results. */

/**
 * Writes the text of the job file that moves the tiles. File names become relative to the job file
 * `path`; if it is "-", they stay unchanged. Returns 0, or -1 with the fault.
 */
int tile_file_jobs(struct textw *text, const struct tile_result *result, const char *path,
                   struct fault *fault);

/** Like tile_file_jobs(), for the job file that stitches results. */
int tile_file_stitch(struct textw *text, const struct tile_result *result, const char *path,
                     struct fault *fault);

enum { TILE_PATH_MAX = 4096 };
/** Writes the path of a tile's file in the directory of --tiles: "DIR/in_3.npy". Returns `out`. */
const char *tile_file_path(const char *directory, const char *operand, uint64_t number,
                           char out[TILE_PATH_MAX]);

/** Returns the name of an operand in the names of files: "in", "second", "weights" or "out". */
const char *tile_file_word(const struct tile_layer *layer, uint32_t operand);

/* The files of --output, --stitch, --svg, --timeline and --trace, and the directory of --tiles. */

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
    const char *path[TILE_FILES_MAX]; /* path, or null; "-": standard output */
    struct output file[TILE_FILES_MAX];
    struct textw text[TILE_FILES_MAX];
    bool made;            /* true: tile_outputs created the directory of --tiles */
    const char *at_fault; /* the file that the fault is about, or null */
};

/** Returns whether an output goes to standard output ("-"): then nothing else is printed. */
bool tile_outputs_on_stdout(const struct options *options);

/**
 * Creates all files without their names, and writes them. Refuses "-" for two outputs or with
 * --json, and two uses of one file; files of the tiles count, too. Borrows the result. Returns 0,
 * or -1 with the fault. Finish with tile_outputs_finish() in both cases.
 */
int tile_outputs_init(struct tile_outputs *outputs, const struct tile_result *result,
                      struct fault *fault);

/** Renames all written files to their final names, and prints the output whose name is "-". Returns
 * 0 or -1. */
int tile_outputs_commit(struct tile_outputs *outputs, struct fault *fault);

/** Removes the files that have no name yet. */
void tile_outputs_finish(struct tile_outputs *outputs);

/* All tiles of a plan on the tensor, as SVG. */

/**
 * Draws the plane of rows and columns of the first input with its tiles: the coordinates that each
 * tile loads are filled, so a halo that several tiles load is darker. The padding is outside the
 * tensor's frame. Ranges of further axes are strips beside the plane.
 */
void tile_picture(struct textw *w, const struct tile_result *result);

/* Output of a tile plan: tables for people, JSON for programs. */

/** Writes tables: the layer, the tiles, the buffers, the traffic, and the time on a board. */
void tile_report_text(struct textw *w, const struct tile_result *result);

/** Writes one object with the members of mlictl-tile(1). */
void tile_report_json(struct jsonw *w, const struct tile_result *result);

/** Writes the layer in one line, such as "3x3 window: (56, 56, 64) -> (54, 54, 64) sa8". */
void tile_report_layer(struct textw *w, const struct tile_result *result);

/* The schedule of a plan as a drawing and as a trace. */

/** Draws the schedule as SVG. The request has a board. Returns 0, or -1 with the fault. */
int tile_timeline_draw(struct textw *w, const struct tile_result *result, struct fault *fault);

/** Writes the schedule as a trace for Perfetto. Returns as tile_timeline_draw() does. */
int tile_timeline_trace(struct textw *w, const struct tile_result *result, struct fault *fault);
