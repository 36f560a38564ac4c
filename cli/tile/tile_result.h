/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan of a request, its jobs, the proof that they are safe, and their times. */
#ifndef CLI_TILE_RESULT_H
#define CLI_TILE_RESULT_H

#include "cli/tile/tile_request.h"
#include "target/tile/tile_jobs.h"

struct tile_result {
    const struct tile_request *request; /* borrowed */
    struct tile_plan plan;
    struct tile_timed other;   /* the best plan by the other objective; only with a board */
    struct tile_jobs firmware; /* loads, kernels and stores as firmware makes them */
    struct tile_use *uses;     /* of the firmware's jobs */
    struct tile_times times;   /* of the firmware's jobs; only with a board */
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

/** Returns whether there is another plan, which is better by the other objective. */
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

#endif /* CLI_TILE_RESULT_H */
