/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the controller of a board, for scenes. Each board has a file in the folder inject. */
#pragma once

#include "boards/firmware/board.h"

enum board_fault {
    BOARD_FAULT_NONE,
    BOARD_FAULT_ERROR, /**< the controller reports an error */
    BOARD_FAULT_STUCK, /**< the controller never reports an end */
};

/**
 * Injects a fault: after `after` more rows on the channel of the engine, the next row ends as
 * `fault` says, even if a descriptor has several rows. There is at most one fault at a time;
 * BOARD_FAULT_NONE removes it. Returns false if the board cannot inject this fault.
 */
bool board_inject(enum board_fault fault, uint32_t channel, uint32_t after);

/** True if the controller reports an access to the bytes after board_memory() as a bus error. */
extern const bool board_reports_bus_errors;
