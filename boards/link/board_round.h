/* SPDX-License-Identifier: BSD-3-Clause */
/* All cases on one engine of a board at a serial line. */
#ifndef CLI_BOARD_ROUND_H
#define CLI_BOARD_ROUND_H

#include "boards/link/serial_board.h"
#include "cli/selftest/round.h"

/**
 * Runs the cases one after another: sends the frames, moves, and compares checksums of both frames;
 * a frame that differs is fetched. Sets round->channels to those of the pool. ROUND_REFUSED: the
 * board has no such engine; ROUND_FAILED: the line or the board is lost. Both fill the fault. A
 * transfer that is started several times, or by its callback, is started once.
 */
enum round_end round_run_on_board(struct round *round, struct board *board, struct fault *fault);

#endif /* CLI_BOARD_ROUND_H */
