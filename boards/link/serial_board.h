/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A board at a serial line: mlictl's end of boards/serial/SERIAL.md. The data flow:
 *
 *     -H qemu:BOARD, serial:PATH
 *         -> board_line.c      the address; bytes: a serial device, a socket, or QEMU
 *         -> serial_board.c    every request as a function: timeouts, retries, tensors in chunks
 *         -> board_job.c       a resolved job: source up, move, destination down
 *            board_link.c      struct board_calls: buffers of job files; answers to info and stats
 *            board_selftest.c  random moves
 *
 * All functions return 0, or -1 with the fault. After a lost line or a reset of the board, `lost`
 * is set and all calls fail. To add a request, start at boards/serial/serial.h.
 */
#pragma once

#include "boards/link/board_line.h"
#include "boards/serial/serial.h"

enum { BOARD_RECEIVED_MAX = 4096, BOARD_SHOWN_MAX = 64 };

struct board_progress {
    void (*show)(void *context, uint64_t done, uint64_t total); /* or null */
    void *context;
    uint64_t done, total; /* bytes on the line of the current job */
};

struct board {
    struct board_line line;
    struct serial_hello hello;
    bool lost;
    bool shielded; /* true: ^C does not interrupt calls, because a transfer is being cancelled */
    uint64_t deadline_ns; /* time by which calls must end; 0: none */
    struct board_progress progress;

    uint64_t calls, retries, bytes_sent, bytes_received;

    struct serial_decoder in;
    struct serial_packet request;
    struct serial_received reply; /* the last reply; its payload is in `in` */
    enum serial_result result;    /* result of the last request */
    uint16_t sequence;
    size_t chunk; /* bytes of tensors in one request; less after errors of the line */
    uint32_t clean;
    uint8_t received[BOARD_RECEIVED_MAX];
    size_t received_begin, received_end;
    uint8_t frame[SERIAL_FRAME_MAX];
    size_t frame_size;
    char shown[BOARD_SHOWN_MAX]; /* last text on the line that was no frame, for messages */
    size_t shown_size;
    bool echo; /* true: the line echoes the bytes that it receives */
};

/* Opening and requests */

/**
 * Opens the line that a URL of -H names, greets the agent, resets it and sets its engine. Call
 * board_close() afterwards, also after a failure.
 */
int board_open(struct board *board, const char *url, struct fault *fault);
void board_close(struct board *board);

/**
 * Sends the request and waits for its reply; `extra_ms` is added to the time limit. Sets
 * board->result to the result of the reply, and *reader to the payload after it. A result other
 * than SERIAL_RESULT_DONE is a fault.
 */
int board_call(struct board *board, uint32_t extra_ms, struct serial_reader *reader,
               struct fault *fault);

/* Requests */

int board_greet(struct board *board, struct fault *fault);
/** Allocates a buffer. With board->result == SERIAL_RESULT_NO_MEMORY or NO_SLOT, the caller may
 * free another one and try again. */
int board_alloc(struct board *board, uint64_t bytes, uint16_t *buffer, struct fault *fault);
int board_free(struct board *board, uint16_t buffer, struct fault *fault);
int board_write(struct board *board, uint16_t buffer, uint64_t offset, const void *bytes,
                size_t size, struct fault *fault);
int board_read(struct board *board, uint16_t buffer, uint64_t offset, void *bytes, size_t size,
               struct fault *fault);
int board_fill(struct board *board, uint16_t buffer, uint64_t offset, uint64_t size, uint8_t value,
               struct fault *fault);
/** Computes the CRC-32 of bytes of a buffer on the board. */
int board_digest(struct board *board, uint16_t buffer, uint64_t offset, uint64_t size,
                 uint32_t *crc, struct fault *fault);

/**
 * Starts a move; *dst becomes the layout of the destination. After the deadline or ^C, waits a
 * little longer for the end of a synchronous move. If the move does not end, the board is lost with
 * FAULT_CHANNEL_STUCK.
 */
int board_start(struct board *board, const struct serial_move *move, uint8_t *transfer,
                struct serial_tensor *dst, struct fault *fault);
/**
 * Waits for the end of a transfer, until board->deadline_ns or ^C: then cancels it and returns -1
 * with FAULT_TIMED_OUT or FAULT_CANCELLED. A transfer that does not end after that is
 * FAULT_CHANNEL_STUCK. Forgets the transfer.
 */
int board_finish(struct board *board, uint8_t transfer, struct serial_status *status,
                 struct fault *fault);

int board_stats(struct board *board, uint32_t channel, mli_mov_channel_stats *stats,
                struct fault *fault);
/**
 * Sets the engine and its number of channels. Null: the board's own engine; 0: all channels.
 * Updates board->hello.
 */
int board_set_engine(struct board *board, const char *spec, uint32_t channels, struct fault *fault);
