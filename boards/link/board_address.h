/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The address of a board, as -H gives it, with options behind commas:
 *
 *     qemu:BOARD       a board that QEMU emulates
 *     serial:PATH      a serial device, a pseudo terminal or a Unix socket
 *
 *     baud=N           speed of a serial device (default: 115200)
 *     timeout=MS       time limit of an answer, without the time on the line (default: 1000 ms;
 *                      5000 ms with QEMU)
 *     firmware=PATH    agent image for QEMU, or a directory with BOARD/agent.elf
 *     channels=N       channels of the board's pool (default: all)
 *     engine=SPEC      engine of the board; the last option, since SPEC may have commas
 */
#ifndef CLI_BOARD_ADDRESS_H
#define CLI_BOARD_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "boards/serial/serial.h"
#include "proto/json/fault.h"

enum { BOARD_NAME_MAX = 256 };

struct board_address {
    enum { BOARD_QEMU, BOARD_SERIAL } kind;
    char name[BOARD_NAME_MAX]; /* of the board, or the path of the line */
    uint32_t baud;
    uint32_t timeout_ms;
    uint32_t channels;             /* 0: all */
    char firmware[BOARD_NAME_MAX]; /* empty: not given */
    char engine[SERIAL_SPEC_MAX];  /* empty: the board's own */
};

/** Reads the address. Returns 0, or -1 with the fault. */
int board_address_parse(struct board_address *address, const char *url, struct fault *fault);

#endif /* CLI_BOARD_ADDRESS_H */
