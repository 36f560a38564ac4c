/* SPDX-License-Identifier: BSD-3-Clause */
/* Boards that QEMU emulates: the process, with the UART of the board on a socket. */
#ifndef CLI_BOARD_QEMU_H
#define CLI_BOARD_QEMU_H

#include <sys/types.h>

#include "proto/json/fault.h"

enum { BOARD_QEMU_TEXT_MAX = 200 };

/**
 * Starts QEMU with the agent image of a board (board_image.h). *line is the board's UART, *errors a
 * file in memory with what QEMU prints. QEMU ends with the thread that started it. Returns 0, or -1
 * with the fault; *qemu, *line and *errors that are set must be stopped and closed after both.
 */
int board_qemu_start(const char *board, const char *firmware, pid_t *qemu, int *line, int *errors,
                     struct fault *fault);
/** Ends QEMU and waits for its end. */
void board_qemu_stop(pid_t qemu);

/** Reads the last line that QEMU printed; empty if it printed nothing. Returns `out`. */
const char *board_qemu_errors(int errors, char out[BOARD_QEMU_TEXT_MAX]);

#endif /* CLI_BOARD_QEMU_H */
