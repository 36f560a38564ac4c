/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol between mlictl and the agent of a board, on a serial line: what both ends share.
 * boards/serial/SERIAL.md describes every message. Without heap and without a C library, for bare
 * metal.
 *
 *     mlictl: struct serial_move -> struct serial_packet -> frame (length, CRC-32, COBS) -> line
 *     agent:  line -> struct serial_decoder -> packet -> struct serial_move
 *
 *   packet   header, payload, CRC-32
 *   frame    a packet on the line: encoded without zero bytes (COBS), between two zero bytes
 *   boot     a number that the agent keeps from its first hello until it is reset
 *
 * To add a request, start here: add it to SERIAL_REQUESTS, describe it in boards/serial/SERIAL.md,
 * handle it in boards/firmware/agent/agent.c and call it in boards/link/serial_board.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_mov_api.h"

enum {
    SERIAL_VERSION = 1,
    SERIAL_HEADER_BYTES = 10,
    SERIAL_CRC_BYTES = 4,
    SERIAL_PAYLOAD_MAX = 2048,
    SERIAL_PACKET_MAX = SERIAL_HEADER_BYTES + SERIAL_PAYLOAD_MAX + SERIAL_CRC_BYTES,
    /* COBS adds one byte, and one more per 254 bytes; a zero byte begins and ends the frame. */
    SERIAL_FRAME_MAX = SERIAL_PACKET_MAX + SERIAL_PACKET_MAX / 254 + 1 + 2,
    /* Size of the name of a board, an engine or a version, with the zero byte. */
    SERIAL_NAME_MAX = 32,
    SERIAL_SPEC_MAX = 128, /* size of the name of an engine with its options, with the zero byte */
    SERIAL_TEXT_MAX = 192  /* size of a message, with the zero byte */
};

/* X(name, number, text): every request. The reply has the number with SERIAL_REPLY. */
#define SERIAL_REQUESTS(X)                                                                         \
    X(HELLO, 1, "hello")      /* read the properties of the board; set the boot number */          \
    X(RESET, 2, "reset")      /* cancel all transfers, free all buffers */                         \
    X(ALLOC, 3, "alloc")      /* allocate a buffer */                                              \
    X(FREE, 4, "free")        /* free a buffer */                                                  \
    X(WRITE, 5, "write")      /* write bytes into a buffer */                                      \
    X(READ, 6, "read")        /* read bytes of a buffer */                                         \
    X(FILL, 7, "fill")        /* fill bytes of a buffer with one value */                          \
    X(DIGEST, 8, "digest")    /* compute the CRC-32 of bytes of a buffer */                        \
    X(START, 9, "start")      /* start a move or a permute */                                      \
    X(STATUS, 10, "status")   /* read the status of a transfer */                                  \
    X(WAIT, 11, "wait")       /* wait for a transfer, then read its status */                      \
    X(CANCEL, 12, "cancel")   /* cancel a transfer */                                              \
    X(RELEASE, 13, "release") /* forget a transfer that has ended */                               \
    X(STATS, 14, "stats")     /* read the counters of a channel */                                 \
    X(ENGINE, 15, "engine")   /* choose the engine and its channels */                             \
    X(ENGINES, 16, "engines") /* read the name of an engine by its index */

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

/** Returns the name of a request, such as "write", or "?" for an unknown number. Static storage. */
const char *serial_request_name(uint8_t request);
/** Returns the meaning of a result, or "an unknown result". Static storage. */
const char *serial_result_text(uint8_t result);

/*
 * Packets and frames. A packet is little-endian on every machine:
 *
 *     | kind 1 | version 1 | sequence 2 | boot 4 | length 2 | payload | CRC-32 4 |
 *
 * The CRC-32 (IEEE 802.3) covers everything before it. On the line, COBS (Cheshire and Baker,
 * "Consistent Overhead Byte Stuffing", 1999) removes the zero bytes, and a zero byte begins and
 * ends each frame: after garbage the receiver is in step again at the next zero byte.
 */

/**
 * Continues a CRC-32; begin with 0. The CRC of two ranges in a row is
 * serial_crc32(serial_crc32(0, a), b).
 */
uint32_t serial_crc32(uint32_t crc, const void *bytes, size_t size);

/* A packet that is being written. */
struct serial_packet {
    uint8_t bytes[SERIAL_PACKET_MAX];
    size_t length;
    bool full; /* true: the payload did not fit; serial_packet_end() fails */
};

void serial_packet_begin(struct serial_packet *packet, uint8_t kind, uint16_t sequence,
                         uint32_t boot);
void serial_put_u8(struct serial_packet *packet, uint8_t value);
void serial_put_u16(struct serial_packet *packet, uint16_t value);
void serial_put_u32(struct serial_packet *packet, uint32_t value);
void serial_put_u64(struct serial_packet *packet, uint64_t value);
void serial_put_bytes(struct serial_packet *packet, const void *bytes, size_t size);
/** Puts a length of one byte and the text, cut to 255 bytes. */
void serial_put_text(struct serial_packet *packet, const char *text);
/** Returns memory for `size` bytes of the payload, which the caller fills; null: not enough space.
 */
uint8_t *serial_put_room(struct serial_packet *packet, size_t size);
/** Adds length and CRC. Returns false if the payload did not fit. */
bool serial_packet_end(struct serial_packet *packet);

/** Calls `put` with the bytes of the frame of a packet, piece by piece. */
void serial_encode(const uint8_t *packet, size_t length,
                   void (*put)(void *context, const uint8_t *bytes, size_t size), void *context);

/* A packet that was received, without its CRC. `payload` is in the decoder. */
struct serial_received {
    uint8_t kind, version;
    uint16_t sequence;
    uint32_t boot;
    const uint8_t *payload;
    size_t size;
};

struct serial_decoder {
    uint8_t packet[SERIAL_PACKET_MAX];
    size_t length;
    uint8_t left;             /* bytes until the next code byte */
    bool zero;                /* a zero byte of the packet is due at the next code byte */
    bool broken;              /* the frame is too long: ignore it up to the next zero byte */
    uint32_t frames, damaged; /* numbers of valid packets and of invalid frames received */
};

enum serial_event {
    SERIAL_NOTHING, /* more bytes are needed */
    SERIAL_PACKET,  /* *received is a packet with a correct CRC */
    SERIAL_GARBAGE  /* a frame is complete, but is not a valid packet */
};

void serial_decoder_init(struct serial_decoder *decoder);
/** Takes the next byte of the line. *received is valid until the next call. */
enum serial_event serial_decode(struct serial_decoder *decoder, uint8_t byte,
                                struct serial_received *received);

/* Reads a payload from its beginning. */
struct serial_reader {
    const uint8_t *at, *end;
    bool failed; /* true: the payload was too short; all values since then are 0 */
};

struct serial_reader serial_reader_init(const struct serial_received *received);
uint8_t serial_get_u8(struct serial_reader *reader);
uint16_t serial_get_u16(struct serial_reader *reader);
uint32_t serial_get_u32(struct serial_reader *reader);
uint64_t serial_get_u64(struct serial_reader *reader);
/** Returns `size` bytes of the payload, or null if it is too short. */
const uint8_t *serial_get_bytes(struct serial_reader *reader, size_t size);
/** Copies a text, cut to `size` - 1 bytes, and ends it with a zero byte. */
void serial_get_text(struct serial_reader *reader, char *out, size_t size);
/** Returns whether the payload was read completely, and was long enough. */
bool serial_reader_done(const struct serial_reader *reader);

/*
 * Payloads of more than a few numbers as plain data: hello, moves, statuses, counters. A _put
 * function appends a payload to a packet, a _get function reads it: it returns whether the payload
 * had this form.
 */

enum { SERIAL_HELLO_BIG_ENDIAN = 1, SERIAL_HELLO_POLLED = 2 };

/* The reply to hello. */
struct serial_hello {
    uint16_t version;
    uint32_t boot; /* never 0 */
    uint8_t flags;
    uint8_t channels; /* channels of the pool */
    uint8_t pointer_bits;
    uint16_t payload_max; /* largest payload that the agent receives and sends */
    uint16_t buffers_max;
    uint16_t transfers_max;
    uint64_t memory_base, memory_bytes; /* memory for tensors */
    uint64_t uptime_ns;
    uint64_t tiny; /* up to this size the processor, and no channel, moves the data */
    char board[SERIAL_NAME_MAX], engine[SERIAL_NAME_MAX], library[SERIAL_NAME_MAX];
};

void serial_hello_put(struct serial_packet *packet, const struct serial_hello *hello);
bool serial_hello_get(struct serial_reader *reader, struct serial_hello *hello);

enum serial_op { SERIAL_OP_MOVE, SERIAL_OP_PERMUTE };

/* How the agent runs a transfer. */
enum serial_mode {
    SERIAL_MODE_POLL,     /* mli_mov_isdone() */
    SERIAL_MODE_CALLBACK, /* a completion callback */
    SERIAL_MODE_SYNC      /* mli_mov_tensor_sync(), or a permute kernel: the request "start" returns
                             after the move */
};

enum { SERIAL_NO_AXIS = 0xff, SERIAL_NO_BUFFER = 0 };

/*
 * A tensor in a buffer of the board. Per-axis parameters are in a buffer too, in the byte order of
 * the board: int16 scale[count], int16 zero_point[count], int8 scale_frac_bits[count].
 */
struct serial_tensor {
    uint16_t type; /* mli_element_type */
    uint8_t rank;
    uint16_t buffer;
    int64_t offset;    /* bytes from the buffer's first byte to the tensor's first element; may be
                          negative if the move does not read the first elements */
    uint32_t capacity; /* size in bytes, from the first element on */
    uint32_t shape[MLI_MAX_RANK];
    int32_t stride[MLI_MAX_RANK];
    int8_t frac_bits;          /* fx types */
    int16_t scale, zero_point; /* per-tensor parameters of the types sa8 and sa32 */
    int8_t scale_frac_bits;
    uint8_t axis; /* SERIAL_NO_AXIS: parameters per tensor */
    uint16_t params_buffer;
    uint32_t params_offset, params_count;
};

/* The payload of the request `start`. */
struct serial_move {
    uint8_t op;       /* enum serial_op */
    uint8_t mode;     /* enum serial_mode */
    uint8_t channels; /* channels to claim, from 1; ignored with SERIAL_MODE_SYNC */
    struct serial_tensor src;
    struct serial_tensor dst; /* in: memory, strides, for a permute also shape. The reply has the
                                 layout of the result */
    mli_mov_cfg_t cfg;
};

void serial_move_put(struct serial_packet *packet, const struct serial_move *move);
bool serial_move_get(struct serial_reader *reader, struct serial_move *move);

void serial_tensor_put(struct serial_packet *packet, const struct serial_tensor *tensor);
bool serial_tensor_get(struct serial_reader *reader, struct serial_tensor *tensor);

/* The reply to status, wait and cancel. */
struct serial_status {
    uint8_t stage; /* mli_mov_stage */
    uint32_t code; /* mli_status */
    uint64_t bytes, bytes_total;
    uint64_t address; /* first byte of the row that was not written completely; 0: unknown */
    uint32_t channel, descriptor;
    uint64_t row;
    uint64_t moving_ns; /* time from start to end, as the board's clock shows it; 0: no clock */
    uint32_t callbacks; /* calls of the completion callback */
};

void serial_status_put(struct serial_packet *packet, const struct serial_status *status);
bool serial_status_get(struct serial_reader *reader, struct serial_status *status);

void serial_stats_put(struct serial_packet *packet, const mli_mov_channel_stats *stats);
bool serial_stats_get(struct serial_reader *reader, mli_mov_channel_stats *stats);
