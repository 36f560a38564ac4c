/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends lines with and without descriptors through a socket that accepts only a few bytes at a
 * time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/seam.h"
#include "daemon/net/outbox.h"
#include "proto/wire/frame.h"
#include "tests/support/rng.h"
#include "tests/unit/daemon/test_peer.h"

/*
 * Appends a line: "F" if a descriptor is attached or "-", the line's number, and `filling` further
 * bytes.
 */
static void append(struct outbox *box, unsigned number, bool with_fd, size_t filling)
{
    char line[20000];
    int length = snprintf(line, sizeof line, "%c%06u", with_fd ? 'F' : '-', number);

    memset(line + length, '.', filling);
    line[(size_t)length + filling] = '\n';
    if (with_fd)
        outbox_attach(box, memfd_with(line + 1, 6));
    if (number % 3 == 0) { /* appends the text itself, not a copy */
        char *text = malloc((size_t)length + filling + 1);

        assert_non_null(text);
        memcpy(text, line, (size_t)length + filling + 1);
        assert_int_equal(outbox_adopt(box, text, (size_t)length + filling + 1), 0);
        return;
    }
    assert_int_equal(outbox_append(box, line, (size_t)length + filling + 1), 0);
}

/* Receives at most `room` bytes, and checks that they continue the lines that came before. */
static unsigned receive(int fd, struct frame *in, size_t room, unsigned next)
{
    int fds[PROTO_FDS_MAX];
    const char *line;
    size_t count, size, length;
    char *bytes = frame_room(in, &size), number[8];
    ssize_t got;

    assert_non_null(bytes);
    got = fd_recv(fd, bytes, size < room ? size : room, fds, &count);
    if (got <= 0)
        return next;
    assert_int_equal(frame_push_fds(in, fds, count), 0);
    frame_commit(in, (size_t)got);
    while (frame_next(in, &line, &length)) {
        snprintf(number, sizeof number, "%06u", next++);
        assert_memory_equal(line + 1, number, 6);
        if (line[0] != 'F')
            continue;
        assert_int_equal(frame_take_fds(in, 1, fds), 0);
        assert_file(fds[0], number, 6);
        close(fds[0]);
    }
    return next;
}

static void test_descriptors_keep_to_their_lines(void **state)
{
    enum { LINES = 3000 };
    const uint64_t seed = 20261122;
    const int before = count_fds(), small = 4096;
    unsigned sent = 0, received = 0;
    struct outbox box;
    struct frame in;
    struct rng rng;
    int ends[2];

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    rng = rng_for_case(seed, 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    assert_int_equal(frame_init(&in, 64 * 1024), 0);
    outbox_init(&box);
    while (received < LINES) {
        if (sent < LINES && rng_below(&rng, 3) > 0) {
            const bool with_fd = outbox_has_room_for_fd(&box, ends[0]) && rng_below(&rng, 2);

            append(&box, sent++, with_fd, rng_below(&rng, 100) ? rng_below(&rng, 60) : 15000);
        }
        if (rng_below(&rng, 3) == 0)
            assert_int_equal(outbox_flush(&box, ends[0]), 0);
        if (sent == LINES || rng_below(&rng, 20) == 0)
            received = receive(ends[1], &in, 1 + rng_below(&rng, 3000), received);
    }
    assert_int_equal(outbox_pending(&box), 0);
    assert_int_equal(box.fd_count, 0);
    outbox_finish(&box);
    frame_finish(&in);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(count_fds(), before);
}

/* Descriptors that were never sent are closed at the end. */
static void test_finish_with_descriptors(void **state)
{
    const int before = count_fds();
    struct outbox box;

    (void)state;
    outbox_init(&box);
    for (unsigned i = 0; i < OUTBOX_FDS_MAX; i++)
        append(&box, i, true, i);
    assert_int_equal(count_fds(), before + OUTBOX_FDS_MAX);
    outbox_finish(&box);
    assert_int_equal(count_fds(), before);
}

static size_t largest; /* size of the largest allocation, in bytes */

static void *watched_realloc(void *block, size_t size)
{
    if (size > largest)
        largest = size;
    return realloc(block, size);
}

/*
 * Appending a reply does not copy the replies that are still unread: no allocation is large enough
 * for all of them.
 */
static void test_many_unread_replies(void **state)
{
    enum { LINES = 10000, FILLING = 1000 };
    const struct seam real = seam;
    unsigned received = 0;
    struct outbox box;
    struct frame in;
    int ends[2];

    (void)state;
    largest = 0;
    seam.realloc = watched_realloc;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    assert_int_equal(frame_init(&in, 64 * 1024), 0);
    outbox_init(&box);
    for (unsigned i = 0; i < LINES; i++) {
        append(&box, i, false, FILLING);
        assert_int_equal(outbox_flush(&box, ends[0]), 0);
    }
    assert_true(outbox_pending(&box) > 8 * 1024 * 1024);
    assert_true(largest <= 128 * 1024);
    seam = real;
    while (received < LINES) {
        assert_int_equal(outbox_flush(&box, ends[0]), 0);
        received = receive(ends[1], &in, 64 * 1024, received);
    }
    assert_int_equal(outbox_pending(&box), 0);
    outbox_finish(&box);
    frame_finish(&in);
    close(ends[0]);
    close(ends[1]);
}

/* Appends lines with a descriptor until there is no room for more. Returns the number of lines. */
static unsigned append_all(struct outbox *box, int socket, unsigned number)
{
    unsigned count = 0;

    for (; outbox_has_room_for_fd(box, socket) && count < 100; count++) {
        append(box, number + count, true, 10);
        assert_int_equal(outbox_flush(box, socket), 0);
    }
    return count;
}

/* If a peer does not read, only a bounded number of descriptors is sent to it. */
static void test_unread_descriptors_are_bounded(void **state)
{
    const int before = count_fds();
    struct outbox box;
    struct frame in;
    int ends[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    assert_int_equal(frame_init(&in, 64 * 1024), 0);
    outbox_init(&box);
    assert_int_equal(append_all(&box, ends[0], 0), OUTBOX_FDS_MAX);
    assert_int_equal(outbox_pending(&box), 0); /* all lines are in the socket */
    assert_false(outbox_has_room_for_fd(&box, ends[0]));
    for (unsigned received = 0; received < OUTBOX_FDS_MAX;)
        received = receive(ends[1], &in, 1000, received);
    assert_int_equal(append_all(&box, ends[0], OUTBOX_FDS_MAX), OUTBOX_FDS_MAX);
    outbox_finish(&box);
    frame_finish(&in);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(count_fds(), before);
}

enum { ALLOWED = 8, WHOLE = 0, PARTLY = 1, UNPRIVILEGED = 65534 };

/*
 * Sends more descriptors than ALLOWED, the limit of this process for unread ones. Returns an exit
 * status.
 */
static int send_too_many(void)
{
    const struct rlimit few = {ALLOWED, ALLOWED};
    char bytes[1000];
    struct outbox box;
    int ends[2], status;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0)
        return 10;
    outbox_init(&box);
    for (unsigned i = 0; i < OUTBOX_FDS_MAX; i++)
        append(&box, i, true, 0);
    if ((geteuid() == 0 && setuid(UNPRIVILEGED) < 0) || setrlimit(RLIMIT_NOFILE, &few) < 0)
        return 11;
    if (outbox_flush(&box, ends[0]) != 0 || box.refused != (outbox_pending(&box) > 0))
        return 12;
    status = box.refused ? PARTLY : WHOLE;
    for (int i = 0; i < 100 && outbox_pending(&box) > 0; i++) {
        if (read(ends[1], bytes, sizeof bytes) < 0 && errno != EAGAIN) /* drops the descriptors */
            return 13;
        if (outbox_flush(&box, ends[0]) != 0)
            return 14;
    }
    return outbox_pending(&box) > 0 || box.refused ? 15 : status;
}

/*
 * The kernel limits the number of sent descriptors that were not received. The outbox sends the
 * rest later.
 */
static void test_refused_descriptors_stay(void **state)
{
    const pid_t child = fork();
    int status;

    (void)state;
    assert_true(child >= 0);
    if (child == 0)
        _exit(send_too_many());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == WHOLE)
        skip(); /* this kernel has no such limit */
    assert_int_equal(WEXITSTATUS(status), PARTLY);
}

/* One flush sends only a part of a long text, so that other clients need not wait for all of it. */
static void test_flush_is_bounded(void **state)
{
    enum { SIZE = 1024 * 1024, FLUSH_MAX = 64 * 1024 };
    char *text = calloc(1, SIZE);
    struct outbox box;
    size_t calls = 0;
    int ends[2];

    (void)state;
    assert_non_null(text);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    outbox_init(&box);
    assert_int_equal(outbox_adopt(&box, text, SIZE), 0);
    for (char part[FLUSH_MAX]; outbox_pending(&box) > 0; calls++) {
        const size_t before = outbox_pending(&box);

        assert_int_equal(outbox_flush(&box, ends[0]), 0);
        assert_true(before - outbox_pending(&box) <= FLUSH_MAX);
        while (read(ends[1], part, sizeof part) > 0)
            ;
    }
    assert_true(calls >= SIZE / FLUSH_MAX);
    outbox_finish(&box);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptors_keep_to_their_lines),
        cmocka_unit_test(test_finish_with_descriptors),
        cmocka_unit_test(test_many_unread_replies),
        cmocka_unit_test(test_unread_descriptors_are_bounded),
        cmocka_unit_test(test_refused_descriptors_stay),
        cmocka_unit_test(test_flush_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
