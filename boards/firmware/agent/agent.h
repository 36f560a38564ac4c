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
 * host/agent_host.c the same agent as a program of a host. To add a request, start at
 * boards/serial/serial.h.
 */
#ifndef FIRMWARE_AGENT_H
#define FIRMWARE_AGENT_H

#include "boards/firmware/agent/agent_memory.h"
#include "boards/firmware/agent/agent_transfer.h"
#include "boards/serial/serial.h"

/* The board, as the agent needs it. */
struct agent_port {
    const char *board;  /* name of the board */
    const char *engine; /* engine of the first pool, with its options */
    uint32_t channels;  /* most channels of the pool */
    uint8_t *memory;    /* memory for tensors, aligned to 64 bytes */
    size_t memory_bytes;
    int (*get)(void *context); /* the next byte of the line; -1: no byte has come */
    void (*put)(void *context, const uint8_t *bytes, size_t size);
    uint64_t (*now_ns)(void); /* null: the board has no clock */
    void *context;
};

struct agent {
    const struct agent_port *port;
    struct serial_decoder in;
    struct serial_packet reply; /* the last reply, for a request that comes again */
    uint32_t boot;              /* 0: no hello has come since the reset */
    uint16_t sequence;          /* of the last request */
    uint8_t kind;               /* of the last request */
    bool answered;              /* true: `reply` is the reply to `sequence` */
    uint8_t channels;           /* of the pool */
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

#endif /* FIRMWARE_AGENT_H */
