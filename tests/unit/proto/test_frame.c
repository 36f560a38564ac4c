/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/frame.h"

#include "tests/unit/proto/frame_unit.h"

static void test_byte_by_byte(void **state)
{
    static const char text[] = "one\n\ntwo\r\n\r\nthree";
    struct frame frame;

    (void)state;
    assert_int_equal(frame_init(&frame, 16), 0);
    for (const char *c = text; *c; c++) {
        feed(&frame, c, 1);
        if (c - text == 3)
            expect_line(&frame, "one");
        else if (c - text == 4)
            expect_line(&frame, "");
        else if (c - text == 9)
            expect_line(&frame, "two");
        else if (c - text == 11)
            expect_line(&frame, "");
        expect_none(&frame);
    }
    feed_text(&frame, "\n");
    expect_line(&frame, "three");
    frame_finish(&frame);
}

static void test_many_lines_at_once(void **state)
{
    struct frame frame;

    (void)state;
    frame_init(&frame, 64);
    feed_text(&frame, "a\nbb\nccc\r\ndd");
    expect_line(&frame, "a");
    expect_line(&frame, "bb");
    expect_line(&frame, "ccc");
    expect_none(&frame);
    expect_none(&frame);
    feed_text(&frame, "d\n");
    expect_line(&frame, "ddd");
    expect_none(&frame);
    frame_finish(&frame);
}

/* Drops only the '\r' before the newline; keeps zero bytes. */
static void test_odd_bytes(void **state)
{
    static const char bytes[] = "a\0b\r\r\n\0\n";
    struct frame frame;
    const char *line;
    size_t length;

    (void)state;
    frame_init(&frame, 64);
    feed(&frame, bytes, sizeof bytes - 1);
    assert_true(frame_next(&frame, &line, &length));
    assert_int_equal(length, 4);
    assert_memory_equal(line, "a\0b\r", 4);
    assert_true(frame_next(&frame, &line, &length));
    assert_int_equal(length, 1);
    assert_int_equal(line[0], '\0');
    expect_none(&frame);
    frame_finish(&frame);
}

static void test_longest_line(void **state)
{
    struct frame frame;
    size_t room;

    (void)state;
    frame_init(&frame, 8);
    for (int i = 0; i < 3; i++) {
        feed_text(&frame, "1234567\n");
        expect_line(&frame, "1234567");
        expect_none(&frame);
    }
    feed_text(&frame, "1234567");
    expect_none(&frame);
    feed_text(&frame, "\n"); /* there is room for just this byte */
    expect_line(&frame, "1234567");
    feed_text(&frame, "12345678");
    expect_none(&frame);
    assert_null(frame_room(&frame, &room));
    frame_finish(&frame);
}

/* Even a line that begins in the middle of the buffer may be as long as the buffer. */
static void test_longest_line_behind_another(void **state)
{
    struct frame frame;
    size_t room;

    (void)state;
    frame_init(&frame, 8);
    feed_text(&frame, "ab\n12345");
    expect_line(&frame, "ab");
    expect_none(&frame);
    feed_text(&frame, "67\n");
    expect_line(&frame, "1234567");
    expect_none(&frame);
    feed_text(&frame, "ab\n12345");
    expect_line(&frame, "ab");
    expect_none(&frame);
    feed_text(&frame, "678");
    expect_none(&frame);
    assert_null(frame_room(&frame, &room));
    frame_finish(&frame);
}

/* If a stream is received in random pieces, the lines are the same. */
static void test_random_cuts(void **state)
{
    char stream[4096];
    unsigned random = 1;
    size_t length = 0;

    (void)state;
    for (unsigned n = 0; length + 40 < sizeof stream; n++) {
        memset(stream + length, 'a' + n % 26, n % 31);
        length += n % 31;
        stream[length++] = '\n';
    }
    for (int round = 0; round < 200; round++) {
        struct frame frame;
        size_t fed = 0, lines = 0;
        const char *line;
        size_t size;

        frame_init(&frame, 32);
        while (fed < length) {
            size_t piece;

            random = random * 1103515245 + 12345;
            piece = 1 + (random >> 16) % 37;
            fed += feed(&frame, stream + fed, piece < length - fed ? piece : length - fed);
            while (frame_next(&frame, &line, &size)) {
                assert_int_equal(size, lines % 31);
                if (size > 0)
                    assert_int_equal(line[size - 1], 'a' + (int)(lines % 26));
                lines++;
            }
        }
        assert_true(lines > 100);
        assert_false(frame.begin < frame.end);
        frame_finish(&frame);
    }
}

static void test_fds_in_order(void **state)
{
    struct frame frame;
    int fds[5], taken[3];

    (void)state;
    open_fds(fds, 5);
    frame_init(&frame, 64);
    /*
     * One call receives a line without descriptors, a line with two, and the beginning of a line
     * with three.
     */
    feed_text(&frame, "none\ntwo\nthr");
    assert_int_equal(frame_push_fds(&frame, fds, 2), 0);
    expect_line(&frame, "none");
    assert_false(frame_leftover(&frame)); /* the bytes may belong to the incomplete line */
    assert_int_equal(frame_take_fds(&frame, 0, taken), 0);
    expect_line(&frame, "two");
    assert_int_equal(frame_take_fds(&frame, 2, taken), 0);
    assert_int_equal(taken[0], fds[0]);
    assert_int_equal(taken[1], fds[1]);
    expect_none(&frame);
    assert_int_equal(frame_push_fds(&frame, fds + 2, 3), 0);
    feed_text(&frame, "ee\n");
    expect_line(&frame, "three");
    assert_int_equal(frame_take_fds(&frame, 3, taken), 0);
    assert_int_equal(taken[0], fds[2]);
    assert_int_equal(taken[2], fds[4]);
    assert_false(frame_leftover(&frame));
    assert_int_equal(frame_take_fds(&frame, 1, taken), -1);
    frame_finish(&frame);
    fd_close_all(fds, 5);
}

static void test_missing_fds(void **state)
{
    struct frame frame;
    int fds[2], taken[3] = {-1, -1, -1};

    (void)state;
    open_fds(fds, 2);
    frame_init(&frame, 64);
    frame_push_fds(&frame, fds, 2);
    assert_int_equal(frame_take_fds(&frame, 3, taken), -1);
    assert_int_equal(taken[0], -1);
    assert_int_equal(frame.fd_count, 2);
    frame_finish(&frame);
    assert_false(is_open(fds[0]) || is_open(fds[1]));
}

static void test_leftover(void **state)
{
    struct frame frame;
    int fds[1];

    (void)state;
    open_fds(fds, 1);
    frame_init(&frame, 64);
    assert_false(frame_leftover(&frame));
    feed_text(&frame, "no descriptors\n");
    frame_push_fds(&frame, fds, 1);
    assert_false(frame_leftover(&frame));
    expect_line(&frame, "no descriptors");
    assert_true(frame_leftover(&frame));
    feed_text(&frame, "x");
    assert_false(frame_leftover(&frame));
    frame_finish(&frame);
    assert_false(is_open(fds[0]));
}

static void test_fifo_full(void **state)
{
    struct frame frame;
    int fds[2 * PROTO_FDS_MAX + 1];
    size_t before = proto_count_fds();

    (void)state;
    open_fds(fds, COUNT_OF(fds));
    frame_init(&frame, 64);
    assert_int_equal(frame_push_fds(&frame, fds, 2 * PROTO_FDS_MAX - 1), 0);
    assert_int_equal(frame_push_fds(&frame, fds + 2 * PROTO_FDS_MAX - 1, 2), -1);
    assert_false(is_open(fds[2 * PROTO_FDS_MAX - 1]));
    assert_false(is_open(fds[2 * PROTO_FDS_MAX]));
    assert_true(is_open(fds[0]));
    open_fds(fds + 2 * PROTO_FDS_MAX - 1, 1);
    assert_int_equal(frame_push_fds(&frame, fds + 2 * PROTO_FDS_MAX - 1, 1), 0);
    frame_finish(&frame);
    assert_int_equal(proto_count_fds(), before);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_by_byte),
        cmocka_unit_test(test_many_lines_at_once),
        cmocka_unit_test(test_odd_bytes),
        cmocka_unit_test(test_longest_line),
        cmocka_unit_test(test_longest_line_behind_another),
        cmocka_unit_test(test_random_cuts),
        cmocka_unit_test(test_fds_in_order),
        cmocka_unit_test(test_missing_fds),
        cmocka_unit_test(test_leftover),
        cmocka_unit_test(test_fifo_full),
    };

    return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
