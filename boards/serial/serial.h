/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol between mlictl and the agent of a board, on a serial line: what both ends share.
 * boards/serial/SERIAL.md describes every message. Without heap and without a C library, for bare
 * metal.
 *
 *     mlictl: struct serial_move -> serial_message.c -> struct serial_packet -> serial_frame.c
 *             (length, CRC-32, COBS) -> line
 *     agent:  line -> struct serial_decoder -> packet -> serial_message.c -> struct serial_move
 *
 *   packet   header, payload, CRC-32
 *   frame    a packet on the line: encoded without zero bytes (COBS), between two zero bytes
 *   boot     a number that the agent keeps from its first hello until it is reset
 *
 * To add a request, start here: add it to SERIAL_REQUESTS, describe it in boards/serial/SERIAL.md,
 * handle it in boards/firmware/agent/agent.c and call it in boards/link/serial_board.c.
 */
#ifndef PROTO_SERIAL_H
#define PROTO_SERIAL_H

#include <stddef.h>
#include <stdint.h>

enum {
    SERIAL_VERSION = 1,
    SERIAL_HEADER_BYTES = 10,
    SERIAL_CRC_BYTES = 4,
    SERIAL_PAYLOAD_MAX = 2048,
    SERIAL_PACKET_MAX = SERIAL_HEADER_BYTES + SERIAL_PAYLOAD_MAX + SERIAL_CRC_BYTES,
    /* COBS adds a byte for every 254, and one; the zero bytes around the frame are two more. */
    SERIAL_FRAME_MAX = SERIAL_PACKET_MAX + SERIAL_PACKET_MAX / 254 + 1 + 2,
    SERIAL_NAME_MAX = 32,  /* of a board, an engine or a version, with the zero byte */
    SERIAL_SPEC_MAX = 128, /* of an engine with its options, with the zero byte */
    SERIAL_TEXT_MAX = 192  /* of a message, with the zero byte */
};

/* X(name, number, text): every request. The reply has the number with SERIAL_REPLY. */
#define SERIAL_REQUESTS(X)                                                                         \
    X(HELLO, 1, "hello")      /* board, library, engine, memory, boot */                           \
    X(RESET, 2, "reset")      /* cancel all transfers, free all buffers */                         \
    X(ALLOC, 3, "alloc")      /* allocate a buffer */                                              \
    X(FREE, 4, "free")        /* free a buffer */                                                  \
    X(WRITE, 5, "write")      /* bytes into a buffer */                                            \
    X(READ, 6, "read")        /* bytes of a buffer */                                              \
    X(FILL, 7, "fill")        /* one value into bytes of a buffer */                               \
    X(DIGEST, 8, "digest")    /* CRC-32 of bytes of a buffer */                                    \
    X(START, 9, "start")      /* start a move or a permute */                                      \
    X(STATUS, 10, "status")   /* status of a transfer */                                           \
    X(WAIT, 11, "wait")       /* wait for a transfer, then its status */                           \
    X(CANCEL, 12, "cancel")   /* cancel a transfer */                                              \
    X(RELEASE, 13, "release") /* forget a transfer that has ended */                               \
    X(STATS, 14, "stats")     /* counters of a channel */                                          \
    X(ENGINE, 15, "engine")   /* choose the engine and its channels */                             \
    X(ENGINES, 16, "engines") /* name of an engine by index */

enum serial_request {
#define SERIAL_REQUEST_ENUM(name, number, text) SERIAL_##name = (number),
    SERIAL_REQUESTS(SERIAL_REQUEST_ENUM)
#undef SERIAL_REQUEST_ENUM
};

enum {
    SERIAL_REPLY = 0x80,  /* flag of a reply */
    SERIAL_DAMAGED = 0xff /* the agent has received a damaged frame; not a reply to a request */
};

/* X(name, number, meaning): the first byte of the payload of every reply. */
#define SERIAL_RESULTS(X)                                                                          \
    X(DONE, 0, "done")                                                                             \
    X(MALFORMED, 1, "the request is unknown, or its payload has another form")                     \
    X(BOOT, 2, "the board was reset since the hello of this session")                              \
    X(NO_MEMORY, 3, "the board's memory for tensors has no free range of that size")               \
    X(NO_SLOT, 4, "all buffers or transfers of the agent are in use")                              \
    X(NO_BUFFER, 5, "no such buffer, or the bytes are outside of it")                              \
    X(NO_TRANSFER, 6, "no such transfer")                                                          \
    X(BUSY, 7, "a transfer still runs")                                                            \
    X(REFUSED, 8, "libmli refused the call; a status and a text follow")

enum serial_result {
#define SERIAL_RESULT_ENUM(name, number, text) SERIAL_RESULT_##name = (number),
    SERIAL_RESULTS(SERIAL_RESULT_ENUM)
#undef SERIAL_RESULT_ENUM
};

/** Returns the name of a request, as "write", or "?". Static storage. */
const char *serial_request_name(uint8_t request);
/** Returns the meaning of a result, or "an unknown result". Static storage. */
const char *serial_result_text(uint8_t result);

#endif /* PROTO_SERIAL_H */
