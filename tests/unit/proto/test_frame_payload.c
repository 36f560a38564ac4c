/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests payloads between lines, lines that are put back, and the free room of the buffer. */
#include "proto/wire/frame.h"
#include "tests/unit/proto/frame_unit.h"

/*
 * Puts a line back: the next call returns the same line again, and later calls return the lines
 * after it.
 */
static void test_unread(void **state)
{
    struct frame frame;
    const char *line;
    size_t length;

    (void)state;
    frame_init(&frame, 64);
    feed_text(&frame, "one\ntwo\nthree\n");
    expect_line(&frame, "one");
    assert_true(frame_next(&frame, &line, &length));
    frame_unread(&frame, line);
    expect_line(&frame, "two");
    expect_line(&frame, "three");
    expect_none(&frame);
    frame_finish(&frame);
}

static void expect_bytes(struct frame *frame, size_t max, const char *expected)
{
    const char *bytes;

    assert_int_equal(frame_take_bytes(frame, max, &bytes), strlen(expected));
    assert_memory_equal(bytes, expected, strlen(expected));
}

/* A payload between lines: its newlines end no line, and it may come in parts. */
static void test_payload(void **state)
{
    struct frame frame;

    (void)state;
    frame_init(&frame, 64);
    feed_text(&frame, "head\n12\n4567\n");
    expect_line(&frame, "head");
    expect_bytes(&frame, 2, "12");
    expect_bytes(&frame, 3, "\n45");
    expect_line(&frame, "67");
    expect_bytes(&frame, 8, "");
    feed_text(&frame, "head\nabc");
    expect_line(&frame, "head");
    expect_bytes(&frame, 8, "abc");
    expect_bytes(&frame, 8, "");
    feed_text(&frame, "tail\n");
    expect_line(&frame, "tail");
    frame_finish(&frame);
}

/* A '\r' at the end of a payload does not belong to the empty line after the payload. */
static void test_empty_line_after_a_payload(void **state)
{
    struct frame frame;

    (void)state;
    frame_init(&frame, 64);
    feed_text(&frame, "head\nab\r\nnext\n");
    expect_line(&frame, "head");
    expect_bytes(&frame, 3, "ab\r");
    expect_line(&frame, "");
    expect_line(&frame, "next");
    frame_finish(&frame);
}

/*
 * Returns how many bytes of a frame of 64 bytes are free after a line and `rest` bytes of the next
 * line.
 */
static size_t room_after(size_t line, size_t rest)
{
    char text[64];
    struct frame frame;
    const char *start;
    size_t length, room;

    memset(text, 'x', sizeof text);
    text[line - 1] = '\n';
    frame_init(&frame, sizeof text);
    assert_int_equal(feed(&frame, text, line + rest), line + rest);
    assert_true(frame_next(&frame, &start, &length));
    assert_int_equal(length, line - 1);
    expect_none(&frame);
    assert_int_equal(frame.scanned, frame.end); /* no byte is searched for a newline twice */
    assert_non_null(frame_room(&frame, &room));
    assert_int_equal(frame.scanned, frame.end);
    frame_finish(&frame);
    return room;
}

/*
 * Moves the rest of the bytes to the start of the buffer if less than a quarter of the buffer is
 * free.
 */
static void test_room(void **state)
{
    (void)state;
    /* if no bytes are left, the whole buffer becomes free, because nothing must be moved */
    assert_int_equal(room_after(1, 0), 64);
    assert_int_equal(room_after(20, 27), 17);
    assert_int_equal(room_after(20, 28), 16);
    assert_int_equal(room_after(20, 29), 35);
    assert_int_equal(room_after(1, 62), 2);
}

static void test_rest_of_the_fifo_moves_up(void **state)
{
    struct frame frame;
    int fds[6], taken[6];

    (void)state;
    open_fds(fds, 6);
    frame_init(&frame, 64);
    assert_int_equal(frame_push_fds(&frame, fds, 6), 0);
    assert_int_equal(frame_take_fds(&frame, 2, taken), 0);
    assert_int_equal(frame_take_fds(&frame, 1, taken + 2), 0);
    assert_int_equal(frame_take_fds(&frame, 3, taken + 3), 0);
    assert_memory_equal(taken, fds, sizeof fds);
    assert_int_equal(frame.fd_count, 0);
    frame_finish(&frame);
    fd_close_all(fds, 6);
}

static void test_finished_frame_is_empty(void **state)
{
    static const struct frame empty;
    struct frame frame;

    (void)state;
    frame_init(&frame, 64);
    feed_text(&frame, "line\nrest");
    expect_line(&frame, "line");
    frame_finish(&frame);
    assert_null(frame.buffer);
    assert_int_equal(frame.capacity, 0);
    assert_int_equal(frame.begin + frame.end + frame.scanned, 0);
    assert_memory_equal(frame.fds, empty.fds, sizeof frame.fds);
    frame_finish(&frame); /* the second call has no effect */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unread),
        cmocka_unit_test(test_payload),
        cmocka_unit_test(test_empty_line_after_a_payload),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_rest_of_the_fifo_moves_up),
        cmocka_unit_test(test_finished_frame_is_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
