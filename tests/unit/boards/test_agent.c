/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent, request by request: replies, repeated requests, resets, and hostile requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "boards/firmware/agent/agent.h"
#include "cli/selftest/draw.h"

enum { MEMORY_BYTES = 1 << 16, HOSTILE_ROUNDS = 20000 };

static struct agent agent;
static uint8_t to_agent[2 * SERIAL_FRAME_MAX], from_agent[2 * SERIAL_FRAME_MAX];
static size_t to_begin, to_end, from_end;
static uint16_t sequence;
static uint32_t boot;
static struct serial_decoder decoder;
static struct serial_received received;

static int get(void *context)
{
    (void)context;
    return to_begin < to_end ? to_agent[to_begin++] : -1;
}

static void put(void *context, const uint8_t *bytes, size_t size)
{
    (void)context;
    assert_true(from_end + size <= sizeof(from_agent));
    memcpy(from_agent + from_end, bytes, size);
    from_end += size;
}

static void put_request(void *context, const uint8_t *bytes, size_t size)
{
    (void)context;
    memcpy(to_agent + to_end, bytes, size);
    to_end += size;
}

/* Sends a request. Returns the result in the reply; *reader is at the bytes after the result. */
static uint8_t call(struct serial_packet *packet, struct serial_reader *reader)
{
    assert_true(serial_packet_end(packet));
    to_begin = to_end = from_end = 0;
    serial_encode(packet->bytes, packet->length, put_request, NULL);
    while (agent_poll(&agent))
        ;
    serial_decoder_init(&decoder);
    for (size_t i = 0; i < from_end; i++) {
        if (serial_decode(&decoder, from_agent[i], &received) != SERIAL_PACKET)
            continue;
        *reader = serial_reader_init(&received);
        assert_int_equal(received.kind, packet->bytes[0] | SERIAL_REPLY);
        return serial_get_u8(reader);
    }
    fail_msg("no reply");
    return 0;
}

static struct serial_packet *begin(struct serial_packet *packet, enum serial_request kind)
{
    serial_packet_begin(packet, (uint8_t)kind, ++sequence, boot);
    return packet;
}

static int start(void **state)
{
    static _Alignas(64) uint8_t memory[MEMORY_BYTES];
    static const struct agent_port port = {.board = "test",
                                           .engine = "inline",
                                           .channels = 3,
                                           .memory = memory,
                                           .memory_bytes = MEMORY_BYTES,
                                           .get = get,
                                           .put = put};

    (void)state;
    if (agent.port)
        agent_finish(&agent);
    boot = 0;
    return agent_init(&agent, &port) ? 0 : -1;
}

static void greet(uint32_t number)
{
    struct serial_packet packet;
    struct serial_reader reader;
    struct serial_hello hello;

    serial_put_u32(begin(&packet, SERIAL_HELLO), number);
    assert_int_equal(call(&packet, &reader), SERIAL_RESULT_DONE);
    assert_true(serial_hello_get(&reader, &hello));
    assert_string_equal(hello.board, "test");
    assert_int_equal(hello.channels, 3);
    boot = hello.boot;
}

static uint16_t alloc(uint64_t bytes, uint8_t expected)
{
    struct serial_packet packet;
    struct serial_reader reader;

    serial_put_u64(begin(&packet, SERIAL_ALLOC), bytes);
    serial_put_u32(&packet, 0);
    assert_int_equal(call(&packet, &reader), expected);
    return expected == SERIAL_RESULT_DONE ? serial_get_u16(&reader) : 0;
}

static uint8_t free_buffer(uint16_t buffer)
{
    struct serial_packet packet;
    struct serial_reader reader;

    serial_put_u16(begin(&packet, SERIAL_FREE), buffer);
    return call(&packet, &reader);
}

static void test_boot(void **state)
{
    struct serial_packet packet;
    struct serial_reader reader;

    (void)state;
    boot = 7;
    assert_int_equal(call(begin(&packet, SERIAL_RESET), &reader), SERIAL_RESULT_BOOT);
    greet(0x1234);
    assert_int_equal(boot, 0x1234);
    greet(0x5678); /* a second hello of this boot gets the same number */
    assert_int_equal(boot, 0x1234);
    assert_int_equal(call(begin(&packet, SERIAL_RESET), &reader), SERIAL_RESULT_DONE);
    const uint32_t before = boot;
    start(NULL);
    boot = before;
    assert_int_equal(call(begin(&packet, SERIAL_RESET), &reader), SERIAL_RESULT_BOOT);
}

/* A request that comes twice is executed once, and has one reply. */
static void test_repeated(void **state)
{
    struct serial_packet packet, again;
    struct serial_reader reader;

    (void)state;
    greet(1);
    serial_put_u64(begin(&packet, SERIAL_ALLOC), 100);
    serial_put_u32(&packet, 0);
    again = packet;
    assert_int_equal(call(&packet, &reader), SERIAL_RESULT_DONE);
    const uint16_t buffer = serial_get_u16(&reader);
    packet = again;
    assert_int_equal(call(&packet, &reader), SERIAL_RESULT_DONE);
    assert_int_equal(serial_get_u16(&reader), buffer);
    assert_int_not_equal(alloc(100, SERIAL_RESULT_DONE), buffer);
    assert_int_equal(free_buffer(buffer), SERIAL_RESULT_DONE);
    assert_int_equal(free_buffer(buffer), SERIAL_RESULT_NO_BUFFER);
}

static void test_memory(void **state)
{
    (void)state;
    greet(1);
    assert_int_equal(alloc(UINT64_MAX, SERIAL_RESULT_NO_MEMORY), 0);
    assert_int_equal(alloc(0, SERIAL_RESULT_MALFORMED), 0);
    const uint16_t whole = alloc(MEMORY_BYTES, SERIAL_RESULT_DONE);
    alloc(1, SERIAL_RESULT_NO_MEMORY);
    assert_int_equal(free_buffer(whole), SERIAL_RESULT_DONE);
    const uint16_t a = alloc(1000, SERIAL_RESULT_DONE), b = alloc(MEMORY_BYTES / 2, 0);
    assert_int_not_equal(a, b);
    assert_int_equal(free_buffer(a), SERIAL_RESULT_DONE);
    alloc(1024, SERIAL_RESULT_DONE); /* fits into the range of the freed buffer */
    for (int i = 2; i < AGENT_BUFFERS_MAX; i++)
        alloc(1, SERIAL_RESULT_DONE);
    alloc(1, SERIAL_RESULT_NO_SLOT);
}

static void test_damaged_frame(void **state)
{
    (void)state;
    greet(1);
    memcpy(to_agent, "\0some text\0", 11);
    to_begin = from_end = 0;
    to_end = 11;
    while (agent_poll(&agent))
        ;
    serial_decoder_init(&decoder);
    bool seen = false;
    for (size_t i = 0; i < from_end; i++)
        seen |= serial_decode(&decoder, from_agent[i], &received) == SERIAL_PACKET &&
                received.kind == SERIAL_DAMAGED;
    assert_true(seen);
}

static struct serial_tensor tensor(uint16_t buffer, uint32_t capacity)
{
    return (struct serial_tensor){.type = MLI_EL_FX_8,
                                  .rank = 1,
                                  .buffer = buffer,
                                  .capacity = capacity,
                                  .shape = {16},
                                  .axis = SERIAL_NO_AXIS};
}

static struct serial_move copy(uint16_t src, uint16_t dst)
{
    struct serial_move move = {.channels = 1, .src = tensor(src, 16), .dst = tensor(dst, 16)};

    mli_mov_cfg_for_copy(&move.cfg);
    return move;
}

static uint8_t start_move(const struct serial_move *move, struct serial_reader *reader)
{
    struct serial_packet packet;

    serial_move_put(begin(&packet, SERIAL_START), move);
    return call(&packet, reader);
}

static void test_move(void **state)
{
    static const char text[] = "0123456789abcdef";
    struct serial_packet packet;
    struct serial_reader reader;
    struct serial_status status;

    (void)state;
    greet(1);
    const uint16_t src = alloc(16, SERIAL_RESULT_DONE), dst = alloc(16, SERIAL_RESULT_DONE);
    serial_put_u16(begin(&packet, SERIAL_WRITE), src);
    serial_put_u64(&packet, 0);
    serial_put_bytes(&packet, text, 16);
    assert_int_equal(call(&packet, &reader), SERIAL_RESULT_DONE);
    struct serial_move move = copy(src, dst);
    move.mode = SERIAL_MODE_CALLBACK;
    assert_int_equal(start_move(&move, &reader), SERIAL_RESULT_DONE);
    const uint8_t number = serial_get_u8(&reader);
    assert_int_equal(free_buffer(src), SERIAL_RESULT_BUSY);
    serial_put_u8(begin(&packet, SERIAL_WAIT), number);
    serial_put_u16(&packet, 10);
    assert_int_equal(call(&packet, &reader), SERIAL_RESULT_DONE);
    assert_true(serial_status_get(&reader, &status));
    assert_int_equal(status.stage, MLI_MOV_DONE);
    assert_int_equal(status.callbacks, 1);
    assert_int_equal(status.bytes, 16);
    serial_put_u8(begin(&packet, SERIAL_RELEASE), number);
    assert_int_equal(call(&packet, &reader), SERIAL_RESULT_DONE);
    serial_put_u16(begin(&packet, SERIAL_READ), dst);
    serial_put_u64(&packet, 0);
    serial_put_u16(&packet, 16);
    assert_int_equal(call(&packet, &reader), SERIAL_RESULT_DONE);
    assert_memory_equal(serial_get_bytes(&reader, 16), text, 16);
}

/* The agent refuses moves that access bytes outside their buffers. */
static void test_moves_outside(void **state)
{
    struct serial_reader reader;

    (void)state;
    greet(1);
    const uint16_t src = alloc(16, SERIAL_RESULT_DONE), dst = alloc(16, SERIAL_RESULT_DONE);
    struct serial_move move = copy(src, dst);
    move.src.offset = 1;
    assert_int_equal(start_move(&move, &reader), SERIAL_RESULT_NO_BUFFER);
    move.src.offset = -1;
    assert_int_equal(start_move(&move, &reader), SERIAL_RESULT_NO_BUFFER);
    move.cfg.offset[0] = 1; /* reads bytes 1 .. 15 of the tensor: bytes 0 .. 14 of the buffer */
    assert_int_equal(start_move(&move, &reader), SERIAL_RESULT_DONE);
    move = copy(src, dst);
    move.dst.offset = INT64_MAX;
    assert_int_equal(start_move(&move, &reader), SERIAL_RESULT_NO_BUFFER);
    move = copy(src, 99);
    assert_int_equal(start_move(&move, &reader), SERIAL_RESULT_NO_BUFFER);
    move = copy(src, dst);
    move.cfg.offset[0] = 16;
    assert_int_equal(start_move(&move, &reader), SERIAL_RESULT_REFUSED);
    assert_int_equal(serial_get_u32(&reader), MLI_STATUS_BAD_FUNC_CFG);
    move = copy(src, dst);
    move.src.axis = 0;
    move.src.type = MLI_EL_SA_8;
    move.src.params_buffer = src;
    move.src.params_count = UINT32_MAX;
    assert_int_equal(start_move(&move, &reader), SERIAL_RESULT_NO_BUFFER);
}

/* Random requests with correct checksums: the agent answers each, and continues to work. */
static void test_hostile(void **state)
{
    struct draw draw = draw_init(5, 0);
    struct serial_packet packet;
    struct serial_reader reader;

    (void)state;
    greet(1);
    for (int i = 0; i < 6; i++)
        alloc(1 + draw_below(&draw, 3000), SERIAL_RESULT_DONE);
    for (int i = 0; i < HOSTILE_ROUNDS; i++) {
        const uint8_t kind = (uint8_t)draw_between(&draw, 1, 18);
        const size_t size = draw_below(&draw, 300);

        if (kind == SERIAL_ENGINE)
            continue;
        begin(&packet, (enum serial_request)kind);
        uint8_t *room = serial_put_room(&packet, size);
        for (size_t k = 0; k < size; k++)
            room[k] = (uint8_t)draw_below(&draw, draw_percent(&draw, 80) ? 8 : 256);
        (void)call(&packet, &reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_boot, start),
        cmocka_unit_test_setup(test_repeated, start),
        cmocka_unit_test_setup(test_memory, start),
        cmocka_unit_test_setup(test_damaged_frame, start),
        cmocka_unit_test_setup(test_move, start),
        cmocka_unit_test_setup(test_moves_outside, start),
        cmocka_unit_test_setup(test_hostile, start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
