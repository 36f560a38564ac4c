/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends lines and descriptors: in order, out of order, too many, too few, and garbage. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/daemon/gate.h"
#include "tests/unit/daemon/test_peer.h"

#define COPY "'op':'mov','src':{'fd':0,'type':'fx8','shape':[4]},'dst':{'fd':1}"

static struct fixture fixture;
static struct peer *const peer = &fixture.peer;
static int src, dst, idle_fds;

static int setup_with(uint32_t line_timeout_ms)
{
    idle_fds = count_fds();
    fixture_config(&fixture.config);
    fixture.config.line_timeout_ms = line_timeout_ms;
    fixture_start(&fixture);
    src = memfd_with("abcd", 4);
    dst = memfd_with(NULL, 4);
    return 0;
}

static int setup(void **state)
{
    (void)state;
    return setup_with(60 * 1000);
}

static int setup_hasty(void **state)
{
    (void)state;
    return setup_with(150);
}

/* Teardown: checks that no descriptor is left. */
static int teardown(void **state)
{
    (void)state;
    close(src);
    close(dst);
    fixture_stop(&fixture);
    assert_int_equal(count_fds(), idle_fds);
    return 0;
}

static void send_text(const char *text, const int *fds, size_t count)
{
    char bytes[4096];
    size_t length = peer_quote(text, bytes, sizeof bytes);

    peer_send_raw(peer, bytes, length, fds, count);
}

static void nap(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000 * 1000};

    nanosleep(&time, NULL);
}

/* Sends all lines at once: one recvmsg() may return lines with and without descriptors. */
static void test_mixed_lines_in_flight(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        peer_send(peer, NULL, 0, "{'jsonrpc':'2.0','id':%d,'method':'daemon.ping'}", 1000 + i);
        peer_submit(peer, i, src, dst, COPY);
    }
    for (int i = 0; i < 100; i++)
        peer_ok(peer, -1);
    assert_file(dst, "abcd", 4);
}

static void test_two_jobs_race_for_descriptors(void **state)
{
    int other_src = memfd_with("wxyz", 4), other_dst = memfd_with(NULL, 4);

    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(pwrite(dst, "....", 4, 0), 4);
        assert_int_equal(pwrite(other_dst, "....", 4, 0), 4);
        peer_submit(peer, 1, src, dst, COPY);
        peer_submit(peer, 2, other_src, other_dst, COPY);
        peer_ok(peer, -1);
        peer_ok(peer, -1);
        assert_file(dst, "abcd", 4);
        assert_file(other_dst, "wxyz", 4);
    }
    close(other_src);
    close(other_dst);
}

/*
 * Sends two lines in one message: the second line's descriptors come with the first byte of the
 * message.
 */
static void test_two_lines_in_one_message(void **state)
{
    int other_src = memfd_with("wxyz", 4), other_dst = memfd_with(NULL, 4);

    (void)state;
    send_text("{'jsonrpc':'2.0','id':1,'method':'job.submit','fds':2,'params':{" COPY "}}\n"
              "{'jsonrpc':'2.0','id':2,'method':'job.submit','fds':2,'params':{" COPY "}}\n",
              (int[]){src, dst, other_src, other_dst}, 4);
    peer_ok(peer, -1);
    peer_ok(peer, -1);
    assert_file(dst, "abcd", 4);
    assert_file(other_dst, "wxyz", 4);
    close(other_src);
    close(other_dst);
}

static void test_line_in_pieces(void **state)
{
    const char *line =
        "{'jsonrpc':'2.0','id':1,'method':'job.submit','fds':2,'params':{" COPY "}}\r\n";
    char bytes[512];
    size_t length = peer_quote(line, bytes, sizeof bytes);

    (void)state;
    peer_send_raw(peer, bytes, 1, (int[]){src, dst}, 2);
    for (size_t i = 1; i < length; i++) {
        peer_send_raw(peer, bytes + i, 1, NULL, 0);
        if (i % 16 == 0)
            nap(1);
    }
    peer_ok(peer, 1);
    assert_file(dst, "abcd", 4);
}

static void test_more_descriptors_than_announced(void **state)
{
    (void)state;
    peer_send(peer, (int[]){src, dst, src}, 3,
              "{'jsonrpc':'2.0','id':1,'method':'job.submit','fds':2,'params':{" COPY "}}");
    peer_ok(peer, 1); /* a tiny job is done before the next line is read */
    peer_error(peer, -1, FAULT_STREAM_ERROR);
    peer_expect_end(peer);
}

static void test_descriptors_with_a_line_that_announces_none(void **state)
{
    (void)state;
    peer_send(peer, &src, 1, "{'jsonrpc':'2.0','id':1,'method':'daemon.ping'}");
    peer_ok(peer, 1);
    peer_error(peer, -1, FAULT_STREAM_ERROR);
    peer_expect_end(peer);
}

static void expects_two_descriptors(size_t sent)
{
    peer_send(peer, &src, sent,
              "{'jsonrpc':'2.0','id':5,'method':'job.submit','fds':2,'params':{" COPY "}}");
    peer_error(peer, 5, FAULT_STREAM_ERROR);
    peer_expect_end(peer);
    assert_file(dst, "\0\0\0\0", 4);
}

static void test_fewer_descriptors_than_announced(void **state)
{
    (void)state;
    expects_two_descriptors(1);
}

static void test_no_descriptors_at_all(void **state)
{
    (void)state;
    expects_two_descriptors(0);
}

/*
 * Sends more descriptors than fd_send() allows. The kernel drops those for which the receiver has
 * no room.
 */
static void send_many(const char *text, size_t count)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(64 * sizeof(int))];
    } control = {0};
    char bytes[512];
    struct iovec data = {.iov_base = bytes, .iov_len = peer_quote(text, bytes, sizeof bytes)};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = CMSG_SPACE(count * sizeof(int))};

    control.align.cmsg_level = SOL_SOCKET;
    control.align.cmsg_type = SCM_RIGHTS;
    control.align.cmsg_len = CMSG_LEN(count * sizeof(int));
    for (size_t i = 0; i < count; i++)
        memcpy(CMSG_DATA(&control.align) + i * sizeof src, &src, sizeof src);
    assert_int_equal(sendmsg(peer->fd, &message, 0), data.iov_len);
}

static void test_seventeen_descriptors(void **state)
{
    (void)state;
    send_many("{'jsonrpc':'2.0','id':1,'method':'daemon.ping','fds':16}\n", 17);
    peer_error(peer, -1, FAULT_STREAM_ERROR);
    peer_expect_end(peer);
}

static void test_sixty_descriptors(void **state)
{
    (void)state;
    send_many("{'jsonrpc':'2.0','id':1,'method':'daemon.ping'}\n", 60);
    peer_error(peer, -1, FAULT_STREAM_ERROR);
    peer_expect_end(peer);
}

/* The descriptors of an invalid line are closed. */
static void test_sixteen_descriptors(void **state)
{
    (void)state;
    send_many("{'jsonrpc':'2.0','id':1,'method':'daemon.ping','fds':16}\n", 16);
    peer_error(peer, 1, FAULT_INVALID_REQUEST);
    peer_expect_alive(peer);
}

/* The client sends further descriptors again and again, but no newline. */
static void test_descriptors_pile_up(void **state)
{
    (void)state;
    send_many("x", 16);
    send_many("x", 16);
    send_many("x", 16);
    peer_error(peer, -1, FAULT_STREAM_ERROR);
    peer_expect_end(peer);
}

/* An invalid line with a valid "fds" gets an error, and the connection stays open. */
static void test_bad_requests_with_known_descriptors(void **state)
{
    static const struct {
        const char *line;
        enum fault_code code;
        size_t fds;
    } cases[] = {
        {"{'jsonrpc':'2.0','id':1,'method':'job.fly','fds':2}", FAULT_METHOD_NOT_FOUND, 2},
        {"{'jsonrpc':'2.0','id':1,'method':'job.cancel'}", FAULT_INVALID_PARAMS, 0},
        {"{'jsonrpc':'1.0','id':1,'method':'daemon.ping'}", FAULT_INVALID_REQUEST, 0},
        {"{'id':1,'method':'daemon.ping','fds':1}", FAULT_INVALID_REQUEST, 1},
        {"{'jsonrpc':'2.0','method':'daemon.ping'}", FAULT_INVALID_REQUEST, 0},
        {"{'jsonrpc':'2.0','id':null,'method':'daemon.ping'}", FAULT_INVALID_REQUEST, 0},
        {"{'jsonrpc':'2.0','id':1,'method':'daemon.ping','more':1}", FAULT_INVALID_REQUEST, 0},
        {"{'jsonrpc':'2.0','id':1,'id':1,'method':'daemon.ping'}", FAULT_INVALID_REQUEST, 0},
        {"{'jsonrpc':'2.0','id':1,'method':'daemon.ping','params':[]}", FAULT_INVALID_REQUEST, 0},
        {"{'jsonrpc':'2.0','id':1,'method':'daemon.ping','params':{'x':1}}", FAULT_INVALID_PARAMS,
         0},
        {"{'jsonrpc':'2.0','id':1,'method':'job.submit'}", FAULT_INVALID_PARAMS, 0},
        {"{'jsonrpc':'2.0','id':1,'method':'job.submit','fds':2,'params':{'op':'mov'}}",
         FAULT_INVALID_PARAMS, 2},
        {"{'jsonrpc':'2.0','id':1,'method':'job.submit','fds':1,'params':{" COPY "}}",
         FAULT_INVALID_PARAMS, 1},
        {"[{'jsonrpc':'2.0','id':1,'method':'daemon.ping'}]", FAULT_INVALID_REQUEST, 0},
        {"3", FAULT_INVALID_REQUEST, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        peer_send(peer, (int[]){src, dst}, cases[i].fds, "%s", cases[i].line);
        peer_error(peer, -1, cases[i].code);
        peer_expect_alive(peer);
    }
}

static void test_params_point_into_the_job(void **state)
{
    (void)state;
    peer_submit(peer, 1, src, dst,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[4],'colour':1},'dst':{'fd':1}");
    assert_string_equal(peer_error(peer, 1, FAULT_INVALID_PARAMS)->pointer, "/src/colour");
    peer_submit(peer, 1, src, dst,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[4]},'dst':{'fd':2}");
    assert_string_equal(peer_error(peer, 1, FAULT_INVALID_PARAMS)->pointer, "/dst/fd");
}

/* Sends lines without a valid "fds": the service cannot know which descriptors belong to them. */
static const char *const garbage[] = {
    "\n",
    "garbage\n",
    "{'jsonrpc':'2.0','id':1,'method':'daemon.ping'\n",
    "{'jsonrpc':'2.0','id':1,'method':'daemon.ping'}}\n",
    "{'jsonrpc':'2.0','id':01,'method':'daemon.ping'}\n",
    "{'jsonrpc':'2.0','id':'\xff','method':'daemon.ping'}\n",
    "{'jsonrpc':'2.0','id':1.5,'method':'daemon.ping'}\n",
    "{'jsonrpc':'2.0','id':1,'method':'daemon.ping','fds':17}\n",
    "{'jsonrpc':'2.0','id':1,'method':'daemon.ping','fds':-1}\n",
    "{'jsonrpc':'2.0','id':1,'method':'daemon.ping','fds':'0'}\n",
    "{'jsonrpc':'2.0','id':1,'method':'daemon.ping','fds':0,'fds':0}\n",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n",
};

static void test_garbage(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(garbage); i++) {
        struct rpc_reply reply;

        send_text(garbage[i], NULL, 0);
        peer_reply(peer, &reply);
        assert_false(reply.ok);
        rpc_reply_finish(&reply);
        peer_expect_end(peer);
        fixture_stop(&fixture);
        fixture_start(&fixture);
    }
}

static void test_garbage_with_descriptors(void **state)
{
    (void)state;
    send_text("garbage\n", (int[]){src, dst}, 2);
    peer_error(peer, -1, FAULT_PARSE_ERROR);
    peer_expect_end(peer);
}

static void test_nul_bytes(void **state)
{
    (void)state;
    peer_send_raw(peer, "\0\0\0\n", 4, NULL, 0);
    peer_error(peer, -1, FAULT_PARSE_ERROR);
    peer_expect_end(peer);
}

/* Sends a ping of `size` bytes with its newline. The service may close the connection meanwhile. */
static void send_long_ping(size_t size)
{
    static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.ping\"";
    char *line = malloc(size);

    assert_non_null(line);
    memset(line, ' ', size);
    memcpy(line, head, sizeof head - 1);
    line[size - 2] = '}';
    line[size - 1] = '\n';
    for (size_t at = 0; at < size;) {
        ssize_t sent = send(peer->fd, line + at, size - at, MSG_NOSIGNAL);

        if (sent < 0) {
            assert_int_equal(errno, EPIPE);
            break;
        }
        at += (size_t)sent;
    }
    free(line);
}

static void test_longest_line(void **state)
{
    (void)state;
    send_long_ping(PROTO_LINE_MAX);
    peer_ok(peer, 1);
    send_long_ping(PROTO_LINE_MAX);
    peer_ok(peer, 1);
}

static void test_line_too_long(void **state)
{
    (void)state;
    send_long_ping(PROTO_LINE_MAX + 1);
    peer_error(peer, -1, FAULT_STREAM_ERROR);
    peer_expect_end(peer);
}

/* The client can read the reply although it is still writing. */
static void test_line_far_too_long(void **state)
{
    (void)state;
    send_long_ping(10 * PROTO_LINE_MAX);
    peer_error(peer, -1, FAULT_STREAM_ERROR);
    peer_expect_end(peer);
}

static void test_unfinished_line(void **state)
{
    (void)state;
    send_text("{'jsonrpc':", NULL, 0);
    peer_error(peer, -1, FAULT_STREAM_ERROR);
    peer_expect_end(peer);
}

/* Single bytes do not restart the line's timer. */
static void test_slow_line(void **state)
{
    struct pollfd poller = {.fd = peer->fd, .events = POLLIN};
    int bytes = 0;

    (void)state;
    peer_hello(peer);
    for (; bytes < 1000 && poll(&poller, 1, 20) == 0; bytes++)
        peer_send_raw(peer, " ", 1, NULL, 0);
    assert_true(bytes < 100);
    peer_error(peer, -1, FAULT_STREAM_ERROR);
    peer_expect_end(peer);
}

/* The timer runs only while the last line is unfinished. */
static void test_idle_connection_stays(void **state)
{
    (void)state;
    peer_expect_alive(peer);
    nap(400);
    peer_expect_alive(peer);
    for (int i = 0; i < 10; i++) {
        send_text("{'jsonrpc':'2.0','id':1,", NULL, 0);
        nap(40);
        send_text("'method':'daemon.ping'}\n", NULL, 0);
        peer_ok(peer, 1);
    }
}

static void test_half_close(void **state)
{
    struct gate gate = {.flags = 0};

    (void)state;
    fixture_stop(&fixture);
    gate_close(&gate, &fixture.config);
    fixture_start(&fixture);
    peer_submit(peer, 1, src, dst, COPY);
    shutdown(peer->fd, SHUT_WR);
    gate_wait(&gate);
    gate_release(&gate);
    peer_ok(peer, 1);
    peer_expect_end(peer);
    fixture_stop(&fixture);
    gate_remove(&gate);
    fixture_config(&fixture.config);
    fixture_start(&fixture);
}

static void test_half_line_then_end(void **state)
{
    (void)state;
    send_text("{'jsonrpc':'2.0','id':1,'method':'daemon.ping'}\n{'json", (int[]){src}, 0);
    shutdown(peer->fd, SHUT_WR);
    peer_ok(peer, 1);
    peer_expect_end(peer);
}

/* If a peer has shut down its sending side and reads nothing, the service closes the connection. */
static void test_half_close_without_reading(void **state)
{
    enum { PINGS = 2048 }; /* the replies fill the socket, but do not stop the service's reading */
    struct pollfd poller = {.fd = peer->fd};

    (void)state;
    for (int i = 0; i < PINGS; i++)
        send_text("{'jsonrpc':'2.0','id':1,'method':'daemon.ping'}\n", NULL, 0);
    shutdown(peer->fd, SHUT_WR);
    assert_int_equal(poll(&poller, 1, 10 * 1000), 1);
    assert_true(poller.revents & POLLHUP);
}

/* The client does not read: the service stops reading too, and loses nothing. */
static void test_back_pressure(void **state)
{
    static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.ping\"}\n";
    struct pollfd poller = {.fd = peer->fd, .events = POLLOUT};
    size_t bytes = 0, pings;

    (void)state;
    while (poll(&poller, 1, 500) > 0) {
        ssize_t sent = send(peer->fd, ping + bytes % (sizeof ping - 1),
                            sizeof ping - 1 - bytes % (sizeof ping - 1), MSG_DONTWAIT);

        assert_true(sent > 0);
        bytes += (size_t)sent;
        assert_true(bytes < 64 * 1024 * 1024);
    }
    pings = bytes / (sizeof ping - 1);
    for (size_t i = 0; i < pings; i++)
        peer_ok(peer, 1);
    if (bytes % (sizeof ping - 1)) {
        peer_send_raw(peer, ping + bytes % (sizeof ping - 1),
                      sizeof ping - 1 - bytes % (sizeof ping - 1), NULL, 0);
        peer_ok(peer, 1);
    }
    peer_expect_alive(peer);
}

#define STREAM_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
#define HASTY_TEST(function)  cmocka_unit_test_setup_teardown(function, setup_hasty, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STREAM_TEST(test_mixed_lines_in_flight),
        STREAM_TEST(test_two_jobs_race_for_descriptors),
        STREAM_TEST(test_two_lines_in_one_message),
        STREAM_TEST(test_line_in_pieces),
        STREAM_TEST(test_more_descriptors_than_announced),
        STREAM_TEST(test_descriptors_with_a_line_that_announces_none),
        STREAM_TEST(test_fewer_descriptors_than_announced),
        STREAM_TEST(test_no_descriptors_at_all),
        STREAM_TEST(test_seventeen_descriptors),
        STREAM_TEST(test_sixty_descriptors),
        STREAM_TEST(test_sixteen_descriptors),
        STREAM_TEST(test_descriptors_pile_up),
        STREAM_TEST(test_bad_requests_with_known_descriptors),
        STREAM_TEST(test_params_point_into_the_job),
        STREAM_TEST(test_garbage),
        STREAM_TEST(test_garbage_with_descriptors),
        STREAM_TEST(test_nul_bytes),
        STREAM_TEST(test_longest_line),
        STREAM_TEST(test_line_too_long),
        STREAM_TEST(test_line_far_too_long),
        HASTY_TEST(test_unfinished_line),
        HASTY_TEST(test_slow_line),
        HASTY_TEST(test_idle_connection_stays),
        STREAM_TEST(test_half_close),
        STREAM_TEST(test_half_line_then_end),
        HASTY_TEST(test_half_close_without_reading),
        STREAM_TEST(test_back_pressure),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}
