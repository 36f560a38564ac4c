/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agent: the end of mlictl's serial line on a board. It keeps buffers in the board's memory for
 * tensors and runs moves between them. Without an operating system and without heap.
 *
 *     port->get --> agent.c (frames, sequence numbers, requests)
 *                     |--> agent_memory.c     buffers: allocate, free, find
 *                     `--> agent_transfer.c   moves: libmli's tensors, handles and statuses
 *     port->put <-- the reply
 *
 * boards/serial/SERIAL.md describes the requests. agent_main.c is the program of a board,
 * tests/support/agent_host.c the same agent as a program of a host. To add a request, start at
 * boards/serial/serial.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boards/serial/serial.h"

/* Buffers of the agent: ranges of the memory for tensors, first fit. */

#ifndef AGENT_BUFFERS_MAX
#define AGENT_BUFFERS_MAX 128
#endif

enum {
    AGENT_ALIGNMENT = 64,      /* alignment of every buffer: a cache line */
    AGENT_ALIGNMENT_MAX = 4096 /* largest alignment that a request may require */
};

struct agent_buffer {
    size_t begin, bytes; /* range in the memory for tensors; bytes = 0: the entry is free */
};

struct agent_memory {
    uint8_t *base;
    size_t bytes;
    struct agent_buffer buffers[AGENT_BUFFERS_MAX]; /* index is the buffer's number - 1 */
};

void agent_memory_init(struct agent_memory *memory, uint8_t *base, size_t bytes);

/**
 * Allocates a buffer of `bytes` > 0 bytes; *number is from 1. The contents are undefined.
 * `alignment` is a power of two up to AGENT_ALIGNMENT_MAX, or 0.
 */
enum serial_result agent_memory_alloc(struct agent_memory *memory, uint64_t bytes,
                                      uint32_t alignment, uint16_t *number);

/** Returns a buffer, or null if there is no buffer of this number. */
struct agent_buffer *agent_memory_buffer(struct agent_memory *memory, uint16_t number);

/**
 * Returns the address of bytes [offset, offset + count) of a buffer; null if the buffer does not
 * exist or is shorter.
 */
uint8_t *agent_memory_at(struct agent_memory *memory, uint16_t number, uint64_t offset,
                         uint64_t count);

/* Transfers of the agent: run the requests with libmli's tensors and handles. */

#ifndef AGENT_TRANSFERS_MAX
#define AGENT_TRANSFERS_MAX 4
#endif

struct agent_transfer {
    bool used;
    bool sync;           /* true: the transfer has ended with `status` */
    bool timed;          /* true: `end_ns` is valid */
    uint16_t buffers[4]; /* buffers of source, destination and their parameters */
    mli_mov_handle_t handle;
    struct serial_status status;
    uint64_t begin_ns;
    volatile uint64_t end_ns;
    volatile uint32_t callbacks;
};

struct agent_transfers {
    struct agent_transfer list[AGENT_TRANSFERS_MAX];
    uint64_t (*now_ns)(void); /* or null */
};

/** Forgets all transfers. `now_ns` may be null. One set of transfers can exist at a time. */
void agent_transfers_init(struct agent_transfers *transfers, uint64_t (*now_ns)(void));

/**
 * Starts a move. Returns the result of the request. SERIAL_RESULT_DONE: *number is the number of
 * the transfer, and move->dst has the layout of the destination. SERIAL_RESULT_REFUSED: *status is
 * the status of libmli, and mli_last_error() is the reason.
 */
enum serial_result agent_transfer_start(struct agent_transfers *transfers,
                                        struct agent_memory *memory, struct serial_move *move,
                                        uint8_t *number, mli_status *status);

/** Returns a transfer, or null if there is no transfer of this number. */
struct agent_transfer *agent_transfer_find(struct agent_transfers *transfers, uint8_t number);

/** Waits at most `wait_ms` for the end of the transfer, then reads its status. */
void agent_transfer_status(struct agent_transfers *transfers, struct agent_transfer *transfer,
                           uint32_t wait_ms, struct serial_status *status);

void agent_transfer_cancel(struct agent_transfer *transfer);

/** Forgets a transfer. Returns false if it still runs. */
bool agent_transfer_release(struct agent_transfer *transfer);

/** Returns whether a transfer uses the buffer. */
bool agent_transfers_use(const struct agent_transfers *transfers, uint16_t buffer);

/** Returns whether there are transfers. */
bool agent_transfers_any(const struct agent_transfers *transfers);

/**
 * Cancels and forgets all transfers; waits a second for their ends. Returns false if one still
 * runs: its channel is stuck.
 */
bool agent_transfers_stop(struct agent_transfers *transfers);

/* The board, as the agent needs it. */
struct agent_port {
    const char *board;  /* name of the board */
    const char *engine; /* engine of the first pool, with its options */
    uint32_t channels;  /* maximum number of channels of the pool */
    uint8_t *memory;    /* memory for tensors, aligned to 64 bytes */
    size_t memory_bytes;
    int (*get)(void *context); /* the next byte of the line; -1: no byte was received */
    void (*put)(void *context, const uint8_t *bytes, size_t size);
    uint64_t (*now_ns)(void); /* null: the board has no clock */
    void *context;
};

struct agent {
    const struct agent_port *port;
    struct serial_decoder in;
    struct serial_packet reply; /* the last reply, sent again if the request is repeated */
    uint32_t boot;              /* 0: no hello was received since the reset */
    uint16_t sequence;          /* sequence number of the last request */
    uint8_t kind;               /* kind of the last request */
    bool answered;              /* true: `reply` is the reply to `sequence` */
    uint8_t channels;           /* number of channels of the pool */
    struct agent_memory memory;
    struct agent_transfers transfers;
};

/**
 * Starts the agent after a reset: no buffers, no transfers, no boot number. Chooses the engine of
 * the port with as many channels as it has. Returns false if the engine is unknown or has no
 * channel; the agent then has the library's default engine.
 */
bool agent_init(struct agent *agent, const struct agent_port *port);

/** Cancels the transfers and empties the pool, as before another agent_init(). */
void agent_finish(struct agent *agent);

/**
 * Handles the bytes that have come, at most one request, and lets a polled engine make progress.
 * Returns false if no byte had come: the caller may sleep until the next interrupt.
 */
bool agent_poll(struct agent *agent);
