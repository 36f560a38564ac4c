/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of the serial line: every packet arrives, and after any garbage the next one does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "boards/serial/serial.h"
#include "tests/support/draw_fill.h"

enum { ROUNDS = 3000, LINE_MAX_BYTES = 3 * SERIAL_FRAME_MAX };

struct line {
    uint8_t bytes[LINE_MAX_BYTES];
    size_t size;
};

static void put(void *context, const uint8_t *bytes, size_t size)
{
    struct line *line = context;

    assert_true(line->size + size <= sizeof(line->bytes));
    memcpy(line->bytes + line->size, bytes, size);
    line->size += size;
}

static void send_packet(struct line *line, struct serial_packet *packet)
{
    assert_true(serial_packet_end(packet));
    serial_encode(packet->bytes, packet->length, put, line);
}

/* Fills a payload with random bytes, in which zeros and long runs are frequent. */
static void make_packet(struct draw *draw, struct serial_packet *packet)
{
    const size_t size = draw_below(draw, draw_percent(draw, 50) ? SERIAL_PAYLOAD_MAX + 1 : 20);
    const uint32_t zeros = draw_below(draw, 3) * 50;

    serial_packet_begin(packet, (uint8_t)draw_between(draw, 1, 16), (uint16_t)draw_next(draw),
                        (uint32_t)draw_next(draw));
    uint8_t *room = serial_put_room(packet, size);
    assert_non_null(room);
    for (size_t i = 0; i < size; i++)
        room[i] = draw_percent(draw, zeros) ? 0 : (uint8_t)draw_between(draw, 1, 255);
}

/* Returns the number of packets on the line that are equal to `packet`. */
static unsigned receive(struct serial_decoder *decoder, const struct line *line,
                        const struct serial_packet *packet)
{
    struct serial_received received;
    unsigned count = 0;

    for (size_t i = 0; i < line->size; i++) {
        if (serial_decode(decoder, line->bytes[i], &received) != SERIAL_PACKET)
            continue;
        assert_int_equal(received.kind, packet->bytes[0]);
        assert_int_equal(received.size, packet->length - SERIAL_HEADER_BYTES - SERIAL_CRC_BYTES);
        assert_memory_equal(received.payload, packet->bytes + SERIAL_HEADER_BYTES, received.size);
        count++;
    }
    return count;
}

static void test_crc(void **state)
{
    (void)state;
    /* The check value of CRC-32 (IEEE 802.3). */
    assert_true(serial_crc32(0, "123456789", 9) == 0xcbf43926);
    assert_true(serial_crc32(serial_crc32(0, "1234", 4), "56789", 5) == 0xcbf43926);
}

static void test_packets_arrive(void **state)
{
    struct draw draw = draw_init(1, 0);

    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct serial_decoder decoder;
        struct serial_packet packet;
        struct line line = {.size = 0};

        serial_decoder_init(&decoder);
        make_packet(&draw, &packet);
        send_packet(&line, &packet);
        assert_true(line.size <= SERIAL_FRAME_MAX);
        for (size_t k = 1; k + 1 < line.size; k++)
            assert_int_not_equal(line.bytes[k], 0);
        assert_int_equal(receive(&decoder, &line, &packet), 1);
    }
}

/* Garbage, then a packet: it arrives, and no other one. */
static void test_garbage_before(void **state)
{
    struct draw draw = draw_init(2, 0);

    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct serial_decoder decoder;
        struct serial_packet packet;
        struct line line = {.size = draw_below(&draw, SERIAL_FRAME_MAX)};

        serial_decoder_init(&decoder);
        draw_fill(&draw, line.bytes, line.size);
        make_packet(&draw, &packet);
        send_packet(&line, &packet);
        assert_int_equal(receive(&decoder, &line, &packet), 1);
    }
}

/* A changed, dropped or doubled byte: the packet does not arrive, the next one does. */
static void test_damage(void **state)
{
    struct draw draw = draw_init(3, 0);

    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct serial_decoder decoder;
        struct serial_packet packet;
        struct line line = {.size = 0};

        serial_decoder_init(&decoder);
        make_packet(&draw, &packet);
        send_packet(&line, &packet);
        const size_t at = 1 + draw_below(&draw, line.size - 2);
        if (draw_percent(&draw, 50)) {
            line.bytes[at] ^= (uint8_t)(1U << draw_below(&draw, 8));
        } else {
            memmove(line.bytes + at, line.bytes + at + 1, line.size - at - 1);
            line.size--;
        }
        assert_int_equal(receive(&decoder, &line, &packet), 0);
        line.size = 0;
        serial_encode(packet.bytes, packet.length, put, &line);
        assert_int_equal(receive(&decoder, &line, &packet), 1);
    }
}

static void test_limits(void **state)
{
    static uint8_t bytes[SERIAL_PAYLOAD_MAX + 1];
    struct serial_packet packet;
    struct serial_reader reader = {bytes, bytes + 3, false};

    (void)state;
    serial_packet_begin(&packet, 1, 2, 3);
    serial_put_bytes(&packet, bytes, SERIAL_PAYLOAD_MAX);
    assert_true(serial_packet_end(&packet));
    serial_packet_begin(&packet, 1, 2, 3);
    serial_put_bytes(&packet, bytes, SERIAL_PAYLOAD_MAX + 1);
    assert_false(serial_packet_end(&packet));
    assert_int_equal(serial_get_u32(&reader), 0);
    assert_false(serial_reader_done(&reader));
}

static void test_messages(void **state)
{
    struct draw draw = draw_init(4, 0);

    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        struct serial_move move, found;
        struct serial_packet packet;
        struct serial_reader reader;

        memset(&move, 0, sizeof(move));
        memset(&found, 0, sizeof(found));
        serial_packet_begin(&packet, 1, 2, 3);
        uint8_t *random = serial_put_room(&packet, 300);
        draw_fill(&draw, random, 300);
        reader = (struct serial_reader){random, random + 300, false};
        (void)serial_move_get(&reader, &move);
        assert_false(reader.failed);
        serial_packet_begin(&packet, 1, 2, 3);
        serial_move_put(&packet, &move);
        reader = (struct serial_reader){packet.bytes + SERIAL_HEADER_BYTES,
                                        packet.bytes + packet.length, false};
        assert_true(serial_move_get(&reader, &found));
        assert_memory_equal(&move, &found, sizeof(move));
    }
}

/* After a payload that was too long, the packet accepts nothing more, not even one byte. */
static void test_full_packets_stay_full(void **state)
{
    static uint8_t bytes[SERIAL_PAYLOAD_MAX];
    struct serial_packet packet;

    (void)state;
    serial_packet_begin(&packet, 1, 2, 3);
    serial_put_bytes(&packet, bytes, SERIAL_PAYLOAD_MAX - 1);
    serial_put_u16(&packet, 7);
    assert_true(packet.full);
    assert_null(serial_put_room(&packet, 1));
    serial_put_u8(&packet, 7);
    assert_false(serial_packet_end(&packet));
}

/* A frame that is longer than every packet is garbage; the next packet arrives. */
static void test_endless_frame(void **state)
{
    struct serial_decoder decoder;
    struct serial_packet packet;
    struct line line = {.size = 0};

    (void)state;
    serial_decoder_init(&decoder);
    memset(line.bytes, 0xFE, 2 * SERIAL_PACKET_MAX);
    line.size = 2 * SERIAL_PACKET_MAX;
    serial_packet_begin(&packet, 1, 2, 3);
    send_packet(&line, &packet);
    assert_int_equal(receive(&decoder, &line, &packet), 1);
    assert_int_equal(decoder.damaged, 1);
    assert_int_equal(decoder.frames, 1);
}

static struct serial_reader reader_of(const struct serial_packet *packet)
{
    return (struct serial_reader){packet->bytes + SERIAL_HEADER_BYTES,
                                  packet->bytes + packet->length, false};
}

/* Texts are cut to 255 bytes on the line, and to the size of the reader's buffer. */
static void test_texts(void **state)
{
    char text[301], got[301];
    struct serial_packet packet;
    struct serial_reader reader;

    (void)state;
    memset(text, 'x', 300);
    text[300] = '\0';
    serial_packet_begin(&packet, 1, 2, 3);
    serial_put_text(&packet, text);
    serial_put_text(&packet, "short");
    serial_put_text(&packet, "");
    reader = reader_of(&packet);
    serial_get_text(&reader, got, sizeof(got));
    assert_int_equal(strlen(got), 255);
    serial_get_text(&reader, got, 4);
    assert_string_equal(got, "sho");
    serial_get_text(&reader, got, sizeof(got));
    assert_string_equal(got, "");
    assert_true(serial_reader_done(&reader));
    reader = reader_of(&packet);
    reader.end = reader.at + 100; /* the packet ends inside the text */
    serial_get_text(&reader, got, sizeof(got));
    assert_string_equal(got, "");
    assert_true(reader.failed);
}

/*
 * A reader skips the counters of a later version, and sets counters that an earlier version lacks
 * to 0.
 */
static void test_stats_of_other_versions(void **state)
{
    const mli_mov_channel_stats sent = {
        .submitted = 1, .completed = 2, .busy_ns = 7, .cpu_bytes = 10};
    mli_mov_channel_stats got;
    struct serial_packet packet;
    struct serial_reader reader;

    (void)state;
    for (int more = -3; more <= 2; more++) {
        serial_packet_begin(&packet, 1, 2, 3);
        serial_stats_put(&packet, &sent);
        for (int i = 0; i < more; i++)
            serial_put_u64(&packet, UINT64_MAX);
        packet.bytes[SERIAL_HEADER_BYTES] = (uint8_t)(packet.bytes[SERIAL_HEADER_BYTES] + more);
        if (more < 0)
            packet.length -= sizeof(uint64_t) * (size_t)-more;
        reader = reader_of(&packet);
        assert_true(serial_stats_get(&reader, &got));
        assert_int_equal(got.submitted, 1);
        assert_int_equal(got.completed, 2);
        assert_int_equal(got.busy_ns, 7);
        assert_int_equal(got.cpu_bytes, more < 0 ? 0 : 10);
    }
    packet.length--;
    reader = reader_of(&packet);
    assert_false(serial_stats_get(&reader, &got));
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(serial_request_name(255), "?");
    assert_string_not_equal(serial_request_name(1), "?");
    assert_string_equal(serial_result_text(255), "an unknown result");
    assert_string_not_equal(serial_result_text(0), "an unknown result");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc),
        cmocka_unit_test(test_packets_arrive),
        cmocka_unit_test(test_garbage_before),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_full_packets_stay_full),
        cmocka_unit_test(test_endless_frame),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_stats_of_other_versions),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
