/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the queue of a connection: order of bytes and descriptors, files, lost peers, dropped
 * lines. */
#define _GNU_SOURCE /* memfd_create */
#include "proto/wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/proto_unit.h"
#include "tests/support/rng.h"

enum { STREAM_MAX = 1 << 22, FDS_MAX = 1024 };

/* Both ends of a connection, and the bytes and descriptors that have arrived. */
static struct {
    struct out out;
    int near, far;
    char *expected, *got;
    size_t expected_size, got_size;
    ino_t expected_fds[FDS_MAX], got_fds[FDS_MAX];
    size_t expected_fd_count, got_fd_count;
    size_t fds_before;
} line;

static int setup(void **state)
{
    const int small = 4608; /* a part of a line fits */
    int ends[2];

    (void)state;
    memset(&line, 0, sizeof line);
    line.fds_before = proto_count_fds();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    assert_int_equal(setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
    line.near = ends[0];
    line.far = ends[1];
    line.expected = malloc(STREAM_MAX);
    line.got = malloc(STREAM_MAX);
    assert_non_null(line.expected);
    assert_non_null(line.got);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    out_finish(&line.out);
    close(line.near);
    close(line.far);
    free(line.expected);
    free(line.got);
    assert_int_equal(proto_count_fds(), line.fds_before);
    return 0;
}

static int make_file(const char *bytes, size_t size)
{
    int fd = memfd_create("out", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    return fd;
}

static ino_t inode_of(int fd)
{
    struct stat st;

    assert_int_equal(fstat(fd, &st), 0);
    return st.st_ino;
}

static void expect(const void *bytes, size_t size)
{
    assert_true(line.expected_size + size <= STREAM_MAX);
    memcpy(line.expected + line.expected_size, bytes, size);
    line.expected_size += size;
}

static void add(const char *text)
{
    assert_int_equal(out_add(&line.out, text, strlen(text)), 0);
    expect(text, strlen(text));
}

/* Receives up to `max` bytes with their descriptors. */
static void receive(size_t max)
{
    const size_t room = STREAM_MAX - line.got_size;
    int fds[PROTO_FDS_MAX];
    size_t count;
    ssize_t size =
        fd_recv(line.far, line.got + line.got_size, max < room ? max : room, fds, &count);

    if (size <= 0)
        return;
    for (size_t i = 0; i < count; i++)
        line.got_fds[line.got_fd_count++] = inode_of(fds[i]);
    fd_close_all(fds, count);
    line.got_size += (size_t)size;
}

static void flush_all(void)
{
    while (!out_empty(&line.out)) {
        assert_int_equal(out_flush(&line.out, line.near), 0);
        receive(STREAM_MAX - line.got_size);
    }
    receive(STREAM_MAX - line.got_size);
}

static void assert_arrived(void)
{
    assert_int_equal(line.got_size, line.expected_size);
    assert_memory_equal(line.got, line.expected, line.expected_size);
    assert_int_equal(line.got_fd_count, line.expected_fd_count);
    assert_memory_equal(line.got_fds, line.expected_fds,
                        line.expected_fd_count * sizeof *line.got_fds);
}

static void add_random_text(struct rng *rng)
{
    char text[3000];
    const size_t size = 1 + rng_below(rng, rng_chance(rng, 80) ? 80 : sizeof text);
    char *room;

    rng_fill(rng, text, size);
    expect(text, size);
    if (rng_chance(rng, 50)) {
        assert_int_equal(out_add(&line.out, text, size), 0);
        return;
    }
    room = out_room(&line.out, size);
    assert_non_null(room);
    memcpy(room, text, size);
    out_commit(&line.out, size);
}

/* Attaches descriptors to the next byte of text, which is appended directly afterwards. */
static void add_random_fds(struct rng *rng)
{
    int fds[3];
    const size_t count = 1 + rng_below(rng, COUNT_OF(fds));

    if (line.expected_fd_count + count > FDS_MAX)
        return;
    for (size_t i = 0; i < count; i++) {
        fds[i] = make_file("", 0);
        line.expected_fds[line.expected_fd_count++] = inode_of(fds[i]);
    }
    assert_int_equal(out_attach(&line.out, fds, count), 0);
    add_random_text(rng);
    assert_int_equal(out_keep(&line.out), 0);
    fd_close_all(fds, count);
}

static void add_random_file(struct rng *rng)
{
    static char bytes[300000];
    const size_t size = rng_below(rng, rng_chance(rng, 90) ? 100 : sizeof bytes);
    int fd;

    rng_fill(rng, bytes, size);
    fd = make_file(bytes, size);
    add_random_text(rng);
    assert_int_equal(out_file(&line.out, fd, size, 9), 0);
    expect(bytes, size);
    assert_int_equal(out_keep(&line.out), 0);
    close(fd);
}

/* A line that is dropped leaves no byte and no descriptor. */
static void drop_random_line(struct rng *rng)
{
    char text[100];
    const size_t waiting = out_waiting(&line.out);
    int fd = make_file("x", 1);

    rng_fill(rng, text, sizeof text);
    out_line_begin(&line.out);
    for (uint32_t i = rng_below(rng, 40); i > 0; i--) {
        assert_int_equal(out_attach(&line.out, &fd, 1), 0);
        assert_int_equal(out_add(&line.out, text, sizeof text), 0);
    }
    if (rng_chance(rng, 50))
        assert_int_equal(out_keep(&line.out), 0);
    out_line_drop(&line.out);
    assert_int_equal(out_waiting(&line.out), waiting);
    close(fd);
}

static void test_random_lines(void **state)
{
    struct rng rng = {4711};

    (void)state;
    while (line.expected_size < STREAM_MAX - 400000) {
        const uint32_t dice = rng_below(&rng, 100);

        if (dice < 40)
            add_random_text(&rng);
        else if (dice < 50)
            add_random_fds(&rng);
        else if (dice < 60)
            add_random_file(&rng);
        else if (dice < 65)
            drop_random_line(&rng);
        else if (dice < 80)
            assert_int_equal(out_flush(&line.out, line.near), 0);
        else
            receive(1 + rng_below(&rng, STREAM_MAX - (uint32_t)line.got_size));
    }
    flush_all();
    assert_arrived();
    assert_int_equal(line.out.cut, 0);
}

/*
 * If a file is shorter than announced, zeros replace the missing bytes, and the owner of the file
 * is told.
 */
static void test_short_file(void **state)
{
    int fd = make_file("abc", 3);

    (void)state;
    add("line\n");
    assert_int_equal(out_file(&line.out, fd, 5, 42), 0);
    add("next\n");
    assert_int_equal(out_flush(&line.out, line.near), 0);
    assert_int_equal(line.out.cut, 42);
    line.out.cut = 0;
    flush_all();
    assert_int_equal(line.out.cut, 0);
    receive(STREAM_MAX);
    assert_int_equal(line.got_size, 15);
    assert_memory_equal(line.got, "line\nabc\0\0next\n", 15);
    close(fd);
}

static void test_closed_peer(void **state)
{
    int fd = make_file("abc", 3);

    (void)state;
    add("line\n");
    assert_int_equal(out_attach(&line.out, &fd, 1), 0);
    add("with a descriptor\n");
    assert_int_equal(out_file(&line.out, fd, 3, 1), 0);
    shutdown(line.far, SHUT_RDWR);
    assert_int_equal(out_flush(&line.out, line.near), 0);
    assert_true(line.out.broken);
    assert_true(out_empty(&line.out));
    add("dropped\n");
    assert_int_equal(out_flush(&line.out, line.near), 0);
    assert_true(out_empty(&line.out));
    close(fd);
}

static void test_peer_closes_before_a_file(void **state)
{
    int fd = make_file("abc", 3);

    (void)state;
    assert_int_equal(out_file(&line.out, fd, 3, 1), 0);
    shutdown(line.far, SHUT_RDWR);
    assert_int_equal(out_flush(&line.out, line.near), 0);
    assert_true(line.out.broken && out_empty(&line.out));
    close(fd);
}

/* Text and the contents of files can be written to a pipe, but no descriptors can be sent. */
static void test_pipe(void **state)
{
    int fd = make_file("abc", 3), ends[2];
    char got[16];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    add("line\n");
    assert_int_equal(out_file(&line.out, fd, 3, 1), 0);
    assert_int_equal(out_flush(&line.out, ends[1]), 0);
    assert_int_equal(read(ends[0], got, sizeof got), 8);
    assert_memory_equal(got, "line\nabc", 8);
    assert_int_equal(out_attach(&line.out, &fd, 1), 0);
    add("x");
    assert_int_equal(out_flush(&line.out, ends[1]), -ENOTSOCK);
    line.out.mark_begin = line.out.mark_end;
    close(ends[0]);
    assert_int_equal(out_flush(&line.out, ends[1]), 0);
    assert_true(line.out.broken);
    close(ends[1]);
    close(fd);
}

static void test_not_a_descriptor(void **state)
{
    (void)state;
    add("line\n");
    assert_int_equal(out_flush(&line.out, -1), -EBADF);
    assert_int_equal(out_waiting(&line.out), 5);
}

/* If duplicating a descriptor fails, the caller keeps its descriptors, and no duplicate stays open.
 */
static void test_keep_without_descriptors(void **state)
{
    int fds[3] = {make_file("", 0), make_file("", 0), make_file("", 0)};
    const size_t before = proto_count_fds();
    struct rlimit limit, low;

    (void)state;
    assert_int_equal(out_attach(&line.out, fds, 3), 0);
    add("x");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    low = limit;
    low.rlim_cur = (rlim_t)fds[2] + 2; /* room for one more descriptor */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    assert_int_equal(out_keep(&line.out), -EMFILE);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(proto_count_fds(), before);
    assert_int_equal(out_keep(&line.out), 0);
    assert_int_equal(proto_count_fds(), before + 3);
    assert_int_equal(out_keep(&line.out), 0); /* the second call has no effect */
    assert_int_equal(proto_count_fds(), before + 3);
    fd_close_all(fds, 3);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_random_lines),
        TEST(test_short_file),
        TEST(test_closed_peer),
        TEST(test_peer_closes_before_a_file),
        TEST(test_pipe),
        TEST(test_not_a_descriptor),
        TEST(test_keep_without_descriptors),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("out", tests, NULL, NULL);
}
