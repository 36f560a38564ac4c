/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a board's serial line: a serial device, a pseudo terminal, a Unix socket, or the
 * UART of a board in QEMU.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

#include "boards/serial/serial.h"
#include "proto/json/fault.h"

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

enum { BOARD_NAME_MAX = 256 };

struct board_address {
    enum { BOARD_QEMU, BOARD_SERIAL } kind;
    char name[BOARD_NAME_MAX]; /* name of the board, or path of the line */
    uint32_t baud;
    uint32_t timeout_ms;
    uint32_t channels;             /* 0: all */
    char firmware[BOARD_NAME_MAX]; /* empty: not given */
    char engine[SERIAL_SPEC_MAX];  /* empty: the board's own engine */
};

/** Reads the address. Returns 0, or -1 with the fault. */
int board_address_parse(struct board_address *address, const char *url, struct fault *fault);

enum { BOARD_LINE_WHERE_MAX = 320 };

struct board_line {
    struct board_address address;
    char where[BOARD_LINE_WHERE_MAX]; /* "serial:/dev/ttyUSB0 (115200 baud)", for messages */
    int fd;
    bool is_terminal; /* true: `before` has the settings to restore */
    struct termios before;
    pid_t qemu; /* 0: none */
    int errors; /* memory file with the error output of QEMU; -1: none */
};

/**
 * Opens the line. A serial device is locked for this process. Returns 0, or -1 with the fault;
 * board_line_close() is legal after both results.
 */
int board_line_open(struct board_line *line, const struct board_address *address,
                    struct fault *fault);
/** Closes the line, and ends QEMU. */
void board_line_close(struct board_line *line);

/**
 * Sends all bytes before the time `until_ns` of clock_ns(). ^C ends the wait unless `shielded`.
 * Returns 0, 1 if the time is over, or -1 with the fault.
 */
int board_line_send(struct board_line *line, const void *bytes, size_t size, uint64_t until_ns,
                    bool shielded, struct fault *fault);

/**
 * Waits for bytes, then receives up to `size` bytes. Returns their number; 0 if the time is over;
 * or -1 with the fault.
 */
ssize_t board_line_receive(struct board_line *line, void *bytes, size_t size, uint64_t until_ns,
                           bool shielded, struct fault *fault);

/** Returns the time that `size` bytes need on the line, in milliseconds. */
uint32_t board_line_ms(const struct board_line *line, size_t size);
