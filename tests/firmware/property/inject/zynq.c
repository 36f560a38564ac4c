/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of Zynq-7000. */
#include "tests/firmware/property/inject.h"

#include "boards/drivers/pl330.h"

const bool board_reports_bus_errors = false;

/* QEMU's model reports no bus errors (docs/boards.md), so a fault is an instruction of a program.
 */
bool board_inject(enum board_fault fault, uint32_t channel, uint32_t after)
{
    pl330_inject(channel,
                 fault == BOARD_FAULT_ERROR   ? PL330_INJECT_TRAP
                 : fault == BOARD_FAULT_STUCK ? PL330_INJECT_WAIT
                                              : PL330_INJECT_NONE,
                 after);
    return true;
}
