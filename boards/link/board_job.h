/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A resolved job on a board, step by step: board_job.c runs it, board_side.c brings its two tensors
 * to the board and back, board_params.c its parameters per axis. A function that returns int
 * returns 0, or -1 with the fault.
 */
#ifndef CLI_BOARD_JOB_H
#define CLI_BOARD_JOB_H

#include "boards/link/board_link.h"
#include "mli_explain.h"

/** One side of a job: bytes [range.begin, range.end) behind the first element, in a buffer. */
struct board_side {
    mli_byte_range range;
    uint16_t buffer;
    int64_t offset; /* of the first element, in the buffer */
    bool temporary; /* true: free the buffer at the end */
    uint8_t *bytes; /* of the range; owned; null for a buffer of the job file */
    struct board_cached *cached;
};

struct board_job {
    struct board_link *link;
    const struct resolved *r;
    mli_explanation move;
    struct board_side src, dst;
    struct quant own;   /* parameters of the result, per axis */
    uint16_t params;    /* buffer with the parameters of both sides; or SERIAL_NO_BUFFER */
    uint32_t src_count; /* entries of the source's parameters */
};

/* Parameters per axis */

/** Prepares the parameters of the result: `own`, which the caller frees, and `src_count`. */
int board_params_init(struct board_job *job, struct fault *fault);

/** Sends the parameters of both sides, if they are per axis. */
int board_params_send(struct board_job *job, struct fault *fault);

/** Reads the parameters of the result, if they are per axis, into `own`. */
int board_params_fetch(struct board_job *job, struct fault *fault);

/** Returns where the parameters of the destination are, behind those of the source. */
uint32_t board_params_dst_at(const struct board_job *job);

/* Sides. Their ranges are known: see board_job.c */

/** Brings the source to the board, or finds it there. */
int board_side_place_source(struct board_job *job, struct fault *fault);

/** Makes a buffer for the destination: with the old bytes, if the move leaves some of them. */
int board_side_place_destination(struct board_job *job, struct fault *fault);

/** Writes the destination into the output, and keeps it on the board as a source of later jobs. */
int board_side_fetch_destination(struct board_job *job, struct fault *fault);

/** Frees the memory of a side, also the buffer on the board if it is temporary. */
void board_side_free(struct board_job *job, struct board_side *side);

#endif /* CLI_BOARD_JOB_H */
