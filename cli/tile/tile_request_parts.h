/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of tile_request_init(). Functions that return an int return 0, or -1 after printing
 * what is wrong.
 */
#ifndef CLI_TILE_REQUEST_PARTS_H
#define CLI_TILE_REQUEST_PARTS_H

#include "cli/tile/tile_request.h"

/** Returns the value of an option, or null. */
const char *tile_request_given(const struct tile_request *r, const char *name);

/* The layer: tile_request_layer.c */

/** Finds the kind of the layer, and refuses options of other kinds. */
int tile_request_kind(const struct tile_request *r, enum tile_kind *kind);

/** Reads the source; of a move, also the options that describe the move. */
int tile_request_source(struct tile_request *r, enum tile_kind kind);

/**
 * Opens the tensors and makes the layer. Returns 0, or -1 with the fault; a fault without a code is
 * printed already.
 */
int tile_request_layer(struct tile_request *r, enum tile_kind kind, struct fault *fault);

/* The board and its memory: tile_request_board.c */

/** Loads the profile, and finds the memory for the buffers. */
int tile_request_board(struct tile_request *r);

/** Reads the size and the number of the buffers, after tile_request_board(). */
int tile_request_memory(struct tile_request *r);

/** Reads the objective of the plan and the figures that the time depends on. */
int tile_request_objective(struct tile_request *r, enum tile_kind kind);

/** Sets r->board for the schedule of the plan. Call it after the other functions. */
void tile_request_finish_board(struct tile_request *r);

#endif /* CLI_TILE_REQUEST_PARTS_H */
