/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of frames: bytes that arrive, and expected lines. */
#ifndef TEST_FRAME_UNIT_H
#define TEST_FRAME_UNIT_H

#include <fcntl.h>
#include <string.h>

#include "proto/wire/frame.h"
#include "tests/support/proto_unit.h"

/* Copies bytes into the frame, at most as many as fit, as recvmsg() would. */
static inline size_t feed(struct frame *frame, const char *bytes, size_t length)
{
    size_t room;
    char *at = frame_room(frame, &room);

    assert_non_null(at);
    assert_true(room > 0);
    if (length > room)
        length = room;
    memcpy(at, bytes, length);
    frame_commit(frame, length);
    return length;
}

#define feed_text(frame, text) assert_int_equal(feed(frame, text, strlen(text)), strlen(text))

static inline void expect_line(struct frame *frame, const char *expected)
{
    const char *line;
    size_t length;

    assert_true(frame_next(frame, &line, &length));
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(line, expected, length);
}

static inline void expect_none(struct frame *frame)
{
    const char *line;
    size_t length;

    assert_false(frame_next(frame, &line, &length));
}

static inline void open_fds(int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        assert_true(fds[i] >= 0);
    }
}

static inline bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

#endif /* TEST_FRAME_UNIT_H */
