/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/proto_unit.h"

enum { KERNEL_MAX = 253 }; /* the kernel's limit SCM_MAX_FD */

/* A pair of connected sockets, and the number of open descriptors before it was made. */
struct pair {
    int a, b;
    size_t before;
};

static int setup(void **state)
{
    static struct pair pair;
    int sockets[2];

    pair.before = proto_count_fds();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sockets) < 0)
        return -1;
    pair.a = sockets[0];
    pair.b = sockets[1];
    *state = &pair;
    return 0;
}

/* Closes the pair and checks for leaked descriptors. */
static int teardown(void **state)
{
    struct pair *pair = *state;

    close(pair->a);
    close(pair->b);
    return proto_count_fds() == pair->before ? 0 : -1;
}

static void open_fds(int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fds[i] = open(i % 2 ? "/dev/null" : "/dev/zero", O_RDONLY | O_CLOEXEC);
        assert_true(fds[i] >= 0);
    }
}

static bool same_file(int a, int b)
{
    struct stat left, right;

    assert_int_equal(fstat(a, &left), 0);
    assert_int_equal(fstat(b, &right), 0);
    return left.st_rdev == right.st_rdev;
}

/* Sends any number of descriptors, even a number that fd_send() refuses. */
static void send_raw(int socket, const int *fds, size_t count)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(KERNEL_MAX * sizeof(int))];
    } control = {0};
    char byte = 'x';
    struct iovec data = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = CMSG_SPACE(count * sizeof(int))};

    control.align.cmsg_level = SOL_SOCKET;
    control.align.cmsg_type = SCM_RIGHTS;
    control.align.cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(&control.align), fds, count * sizeof(int));
    assert_int_equal(sendmsg(socket, &message, 0), 1);
}

static void test_bytes_only(void **state)
{
    struct pair *pair = *state;
    int fds[PROTO_FDS_MAX];
    size_t count = 7;
    char buffer[16];

    assert_int_equal(fd_send(pair->a, "hello", 5, NULL, 0), 5);
    assert_int_equal(fd_recv(pair->b, buffer, sizeof buffer, fds, &count), 5);
    assert_memory_equal(buffer, "hello", 5);
    assert_int_equal(count, 0);
    assert_int_equal(fd_recv(pair->b, buffer, sizeof buffer, fds, &count), -EAGAIN);
}

static void test_descriptors(void **state)
{
    static const size_t counts[] = {1, 2, PROTO_FDS_MAX};
    struct pair *pair = *state;

    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        int sent[PROTO_FDS_MAX], got[PROTO_FDS_MAX];
        size_t count;
        char buffer[16];

        open_fds(sent, counts[i]);
        assert_int_equal(fd_send(pair->a, "m\n", 2, sent, counts[i]), 2);
        assert_int_equal(fd_recv(pair->b, buffer, sizeof buffer, got, &count), 2);
        assert_int_equal(count, counts[i]);
        for (size_t k = 0; k < count; k++) {
            assert_true(same_file(sent[k], got[k]));
            assert_int_equal(fcntl(got[k], F_GETFD), FD_CLOEXEC);
        }
        fd_close_all(sent, counts[i]);
        fd_close_all(got, count);
    }
}

/* If single bytes are received, all descriptors come with the first byte of their message. */
static void test_first_byte(void **state)
{
    struct pair *pair = *state;
    int sent[2], got[PROTO_FDS_MAX];
    size_t count;
    char byte;

    open_fds(sent, 2);
    assert_int_equal(fd_send(pair->a, "abc", 3, sent, 2), 3);
    assert_int_equal(fd_recv(pair->b, &byte, 1, got, &count), 1);
    assert_int_equal(count, 2);
    fd_close_all(got, count);
    assert_int_equal(fd_recv(pair->b, &byte, 1, got, &count), 1);
    assert_int_equal(count, 0);
    fd_close_all(sent, 2);
}

/*
 * One call receives a line without descriptors and a line with two; the frame knows which line has
 * them.
 */
static void test_mixed_lines(void **state)
{
    struct pair *pair = *state;
    int sent[2], got[PROTO_FDS_MAX], taken[2];
    struct frame frame;
    const char *line;
    size_t count, room, length;
    char *at;

    open_fds(sent, 2);
    frame_init(&frame, 64);
    assert_int_equal(fd_send(pair->a, "first\n", 6, NULL, 0), 6);
    assert_int_equal(fd_send(pair->a, "second\n", 7, sent, 2), 7);
    assert_int_equal(fd_send(pair->a, "third\n", 6, NULL, 0), 6);
    for (size_t received = 0; received < 19;) {
        ssize_t bytes;

        at = frame_room(&frame, &room);
        bytes = fd_recv(pair->b, at, room, got, &count);
        assert_true(bytes > 0);
        frame_commit(&frame, (size_t)bytes);
        assert_int_equal(frame_push_fds(&frame, got, count), 0);
        received += (size_t)bytes;
    }
    assert_true(frame_next(&frame, &line, &length));
    assert_true(frame_next(&frame, &line, &length));
    assert_memory_equal(line, "second", length);
    assert_int_equal(frame_take_fds(&frame, 2, taken), 0);
    assert_true(same_file(taken[1], sent[1]));
    assert_true(frame_next(&frame, &line, &length));
    assert_false(frame_leftover(&frame));
    frame_finish(&frame);
    fd_close_all(sent, 2);
    fd_close_all(taken, 2);
}

static void test_too_many(void **state)
{
    static const size_t counts[] = {PROTO_FDS_MAX + 1, KERNEL_MAX};
    struct pair *pair = *state;

    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        int sent[KERNEL_MAX], got[PROTO_FDS_MAX];
        size_t count = 7, open_before;
        char buffer[16];

        open_fds(sent, counts[i]);
        send_raw(pair->a, sent, counts[i]);
        open_before = proto_count_fds();
        assert_int_equal(fd_recv(pair->b, buffer, sizeof buffer, got, &count), -EMSGSIZE);
        assert_int_equal(count, 0);
        assert_int_equal(proto_count_fds(), open_before);
        fd_close_all(sent, counts[i]);
    }
}

/* Receives the maximum number of descriptors of a message, so that the kernel closes none. */
static void test_all(void **state)
{
    struct pair *pair = *state;
    int sent[KERNEL_MAX], got[FD_RECV_MAX];
    size_t count = 7, open_before;
    char buffer[16];

    assert_int_equal(KERNEL_MAX, FD_RECV_MAX);
    open_fds(sent, KERNEL_MAX);
    open_before = proto_count_fds();
    send_raw(pair->a, sent, KERNEL_MAX);
    assert_int_equal(fd_recv_all(pair->b, buffer, sizeof buffer, got, &count), 1);
    assert_int_equal(count, KERNEL_MAX);
    assert_int_equal(proto_count_fds(), open_before + KERNEL_MAX);
    fd_close_all(sent, KERNEL_MAX);
    fd_close_all(got, count);
}

/*
 * If the process has reached its limit of descriptors, the kernel drops the other descriptors
 * (MSG_CTRUNC).
 */
static void test_no_more_files(void **state)
{
    struct pair *pair = *state;
    const char *preload;
    struct rlimit old, low;
    int sent[4], got[PROTO_FDS_MAX];
    size_t count = 7, open_before;
    ssize_t status;
    char buffer[16];

    open_fds(sent, 4);
    assert_int_equal(fd_send(pair->a, "m", 1, sent, 4), 1);
    open_before = proto_count_fds();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    low = old;
    low.rlim_cur = (rlim_t)sent[3] + 3; /* leaves room for only two of the four descriptors */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    status = fd_recv(pair->b, buffer, sizeof buffer, got, &count);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    fd_close_all(sent, 4);
    preload = getenv("LD_PRELOAD");
    if (count == 4 && preload && strstr(preload, "vgpreload")) { /* valgrind ignores the limit */
        fd_close_all(got, count);
        skip();
    }
    assert_int_equal(status, -EMSGSIZE);
    assert_int_equal(count, 0);
    assert_int_equal(proto_count_fds(), open_before - 4);
}

static void test_end_of_stream(void **state)
{
    struct pair *pair = *state;
    int fds[PROTO_FDS_MAX], null;
    size_t count = 7;
    char buffer[4];

    assert_int_equal(shutdown(pair->a, SHUT_WR), 0);
    errno = EINTR; /* fd_send() must not retry because of an old errno */
    assert_int_equal(fd_recv(pair->b, buffer, sizeof buffer, fds, &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(fd_send(pair->a, "x", 1, NULL, 0), -EPIPE); /* does not raise SIGPIPE */
    null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(fd_recv(null, buffer, sizeof buffer, fds, &count), -ENOTSOCK);
    close(null);
}

static void test_bad_send(void **state)
{
    struct pair *pair = *state;
    int fds[PROTO_FDS_MAX + 1] = {0};

    assert_int_equal(fd_send(pair->a, "x", 1, fds, PROTO_FDS_MAX + 1), -EINVAL);
    assert_int_equal(fd_send(pair->a, "", 0, fds, 1), -EINVAL);
    fds[0] = -1;
    assert_int_equal(fd_send(pair->a, "x", 1, fds, 1), -EBADF);
}

/* A full socket takes only a part of the bytes; the descriptors are sent with the first part only.
 */
static void test_partial_send(void **state)
{
    static char bytes[1 << 20];
    struct pair *pair = *state;
    int sent[1], got[PROTO_FDS_MAX];
    size_t count, fds_seen = 0, total = 0;
    ssize_t first, status;

    open_fds(sent, 1);
    memset(bytes, 'x', sizeof bytes);
    first = fd_send(pair->a, bytes, sizeof bytes, sent, 1);
    assert_true(first > 0 && (size_t)first < sizeof bytes);
    assert_int_equal(fd_send(pair->a, bytes, 1 << 18, NULL, 0), -EAGAIN);
    while ((status = fd_recv(pair->b, bytes, sizeof bytes, got, &count)) > 0) {
        fd_close_all(got, count);
        fds_seen += count;
        total += (size_t)status;
    }
    assert_int_equal(status, -EAGAIN);
    assert_int_equal(total, first);
    assert_int_equal(fds_seen, 1);
    fd_close_all(sent, 1);
}

#define PAIR_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        PAIR_TEST(test_bytes_only),   PAIR_TEST(test_descriptors),   PAIR_TEST(test_first_byte),
        PAIR_TEST(test_mixed_lines),  PAIR_TEST(test_too_many),      PAIR_TEST(test_no_more_files),
        PAIR_TEST(test_all),          PAIR_TEST(test_end_of_stream), PAIR_TEST(test_bad_send),
        PAIR_TEST(test_partial_send),
    };

    return cmocka_run_group_tests_name("fdpass", tests, NULL, NULL);
}
