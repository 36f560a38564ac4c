/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serial frames and messages. Input: a mode, then bytes. Mode 0: the bytes arrive on the line as
 * they are. Other modes: each piece of the bytes is a payload that is put into a packet, sent as a
 * frame, and possibly damaged; an undamaged frame must arrive as it was, and a damaged one must
 * never arrive as another packet. Every payload is read as every kind of message, and an accepted
 * message must be the same after being written and read again.
 */
#include "boards/serial/serial.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_reader.h"

struct line {
    uint8_t bytes[SERIAL_FRAME_MAX];
    size_t length;
};

static void put(void *context, const uint8_t *bytes, size_t size)
{
    struct line *line = context;

    FUZZ_ASSERT(size <= sizeof line->bytes - line->length);
    memcpy(line->bytes + line->length, bytes, size);
    line->length += size;
}

/* Returns a reader of the payload that was put into a packet. */
static struct serial_reader payload_of(const struct serial_packet *packet)
{
    const struct serial_received received = {.payload = packet->bytes + SERIAL_HEADER_BYTES,
                                             .size = packet->length - SERIAL_HEADER_BYTES -
                                                     SERIAL_CRC_BYTES};

    return serial_reader_init(&received);
}

/*
 * Reads the payload as one kind of message. If the payload is accepted, writing the message,
 * reading it and writing it again must give two equal packets.
 */
#define CHECK_MESSAGE(received, type, name)                                                        \
    do {                                                                                           \
        static struct serial_packet first, second;                                                 \
        struct serial_reader payload = serial_reader_init(received);                               \
        type message;                                                                              \
                                                                                                   \
        if (name##_get(&payload, &message)) {                                                      \
            serial_packet_begin(&first, 1, 2, 3);                                                  \
            name##_put(&first, &message);                                                          \
            FUZZ_ASSERT(serial_packet_end(&first));                                                \
            payload = payload_of(&first);                                                          \
            FUZZ_ASSERT(name##_get(&payload, &message) && serial_reader_done(&payload));           \
            serial_packet_begin(&second, 1, 2, 3);                                                 \
            name##_put(&second, &message);                                                         \
            FUZZ_ASSERT(serial_packet_end(&second) && second.length == first.length);              \
            FUZZ_ASSERT(memcmp(first.bytes, second.bytes, first.length) == 0);                     \
        }                                                                                          \
    } while (0)

static void check_messages(const struct serial_received *received)
{
    char text[SERIAL_TEXT_MAX];
    struct serial_reader reader = serial_reader_init(received);

    CHECK_MESSAGE(received, struct serial_hello, serial_hello);
    CHECK_MESSAGE(received, struct serial_move, serial_move);
    CHECK_MESSAGE(received, struct serial_tensor, serial_tensor);
    CHECK_MESSAGE(received, struct serial_status, serial_status);
    CHECK_MESSAGE(received, mli_mov_channel_stats, serial_stats);
    serial_get_text(&reader, text, sizeof text);
    FUZZ_ASSERT(memchr(text, '\0', sizeof text));
    FUZZ_ASSERT(serial_request_name(received->kind)[0]);
}

/* Decodes bytes. Returns the number of packets; the last is compared with `wanted`, if given. */
static uint32_t decode(struct serial_decoder *decoder, const uint8_t *bytes, size_t size,
                       const uint8_t *wanted, size_t length)
{
    struct serial_received received;
    uint32_t packets = 0;

    for (size_t i = 0; i < size; i++) {
        if (serial_decode(decoder, bytes[i], &received) != SERIAL_PACKET)
            continue;
        packets++;
        FUZZ_ASSERT(received.size <= SERIAL_PAYLOAD_MAX);
        check_messages(&received);
        if (wanted)
            FUZZ_ASSERT(received.size == length && memcmp(received.payload, wanted, length) == 0);
    }
    return packets;
}

/* Sends a payload, with the bits of `damage` flipped in a byte that the input chooses. */
static void send(struct fuzz_reader *reader, struct serial_decoder *decoder)
{
    static struct serial_packet packet;
    static struct line line;
    const uint8_t damage = fuzz_rarely(reader) ? fuzz_u8(reader) : 0;
    const uint32_t where = (uint32_t)fuzz_bytes(reader, damage ? 2 : 0);
    size_t size, at;
    const uint8_t *payload = fuzz_piece(reader, 255, &size);

    serial_packet_begin(&packet, fuzz_u8(reader), (uint16_t)where, where * 77);
    serial_put_bytes(&packet, payload, size);
    FUZZ_ASSERT(serial_packet_end(&packet));
    line.length = 0;
    serial_encode(packet.bytes, packet.length, put, &line);
    FUZZ_ASSERT(line.bytes[0] == 0 && line.bytes[line.length - 1] == 0);
    FUZZ_ASSERT(!memchr(line.bytes + 1, 0, line.length - 2));
    at = where % line.length;
    line.bytes[at] ^= damage;
    if (damage)
        FUZZ_ASSERT(decode(decoder, line.bytes, line.length, NULL, 0) == 0);
    else
        FUZZ_ASSERT(decode(decoder, line.bytes, line.length, payload, size) == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reader reader = fuzz_reader_init(data, size);
    static struct serial_decoder decoder;

    serial_decoder_init(&decoder);
    if (fuzz_u8(&reader) == 0) {
        (void)decode(&decoder, reader.at, fuzz_left(&reader), NULL, 0);
        return 0;
    }
    while (fuzz_left(&reader) > 0) {
        send(&reader, &decoder);
        decode(&decoder, (const uint8_t *)"", 1, NULL, 0); /* a zero byte ends any damaged frame */
    }
    FUZZ_ASSERT(decoder.length <= sizeof decoder.packet);
    return 0;
}
