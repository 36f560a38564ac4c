/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets and frames. A packet is little-endian on every machine:
 *
 *     | kind 1 | version 1 | sequence 2 | boot 4 | length 2 | payload | CRC-32 4 |
 *
 * The CRC-32 (IEEE 802.3) covers everything before it. On the line, COBS (Cheshire and Baker,
 * "Consistent Overhead Byte Stuffing", 1999) removes the zero bytes, and a zero byte begins and
 * ends each frame: after garbage the receiver is in step again at the next zero byte.
 */
#ifndef PROTO_SERIAL_FRAME_H
#define PROTO_SERIAL_FRAME_H

#include <stdbool.h>

#include "boards/serial/serial.h"

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
/** Returns memory for `size` bytes of the payload, which the caller fills; null: no room. */
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
    uint32_t frames, damaged; /* received packets; frames that were no packets */
};

enum serial_event {
    SERIAL_NOTHING, /* more bytes are needed */
    SERIAL_PACKET,  /* *received is a packet with a correct CRC */
    SERIAL_GARBAGE  /* a frame has ended that is no packet */
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

#endif /* PROTO_SERIAL_FRAME_H */
