/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/daemon/test_peer.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>

#include "proto/wire/frame.h"

enum { PATIENCE_MS = 30 * 1000 };

void peer_init(struct peer *peer, int fd)
{
    peer->fd = fd;
    peer->greeted = false;
    assert_int_equal(frame_init(&peer->in, PROTO_REPLY_MAX), 0);
}

void peer_finish(struct peer *peer)
{
    frame_finish(&peer->in);
    if (peer->fd >= 0)
        close(peer->fd);
    peer->fd = -1;
}

void peer_send_raw(struct peer *peer, const char *bytes, size_t length, const int *fds,
                   size_t count)
{
    ssize_t sent = fd_send(peer->fd, bytes, length, fds, count);

    assert_true(sent > 0);
    while ((size_t)sent < length) {
        ssize_t more = fd_send(peer->fd, bytes + sent, length - (size_t)sent, NULL, 0);

        assert_true(more > 0);
        sent += more;
    }
}

size_t peer_quote(const char *text, char *out, size_t size)
{
    size_t length = strlen(text);

    assert_true(length < size);
    for (size_t i = 0; i <= length; i++)
        out[i] = text[i] == '\'' ? '"' : text[i];
    return length;
}

void peer_send(struct peer *peer, const int *fds, size_t count, const char *format, ...)
{
    static _Thread_local char line[2 * PROTO_LINE_MAX];
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    assert_true(length >= 0 && (size_t)length < sizeof line - 1);
    peer_quote(line, line, sizeof line);
    line[length] = '\n';
    peer_send_raw(peer, line, (size_t)length + 1, fds, count);
}

void peer_submit(struct peer *peer, int id, int src, int dst, const char *job)
{
    peer_send(peer, (int[]){src, dst}, 2,
              "{'jsonrpc':'2.0','id':%d,'method':'job.submit','fds':2,'params':{%s}}", id, job);
}

/* Reads the next line. Returns false at the end of the stream. */
static bool any_line(struct peer *peer, const char **line, size_t *length)
{
    int fds[PROTO_FDS_MAX];
    struct pollfd poller = {.fd = peer->fd, .events = POLLIN};

    while (!frame_next(&peer->in, line, length)) {
        size_t room, count;
        char *bytes = frame_room(&peer->in, &room);
        ssize_t got;

        assert_non_null(bytes);
        if (poll(&poller, 1, PATIENCE_MS) <= 0)
            fail_msg("no reply within %d ms", PATIENCE_MS);
        got = fd_recv(peer->fd, bytes, room, fds, &count);
        if (got == 0 || got == -ECONNRESET)
            return false;
        assert_true(got > 0);
        assert_int_equal(frame_push_fds(&peer->in, fds, count), 0);
        frame_commit(&peer->in, (size_t)got);
    }
    return true;
}

static bool next_line(struct peer *peer, const char **line, size_t *length)
{
    static const char hello[] = "\"method\":\"hello\"";

    if (!any_line(peer, line, length))
        return false;
    if (peer->greeted || !memmem(*line, *length, hello, sizeof hello - 1)) {
        peer->greeted = true; /* this line is the greeting, or the reason for a refusal */
        return true;
    }
    peer->greeted = true;
    return any_line(peer, line, length);
}

struct hello peer_hello(struct peer *peer)
{
    struct rpc_reply reply;
    struct hello hello;
    const char *line;
    size_t length;

    assert_false(peer->greeted);
    peer->greeted = true;
    if (!any_line(peer, &line, &length) || rpc_reply_parse(line, length, &reply) < 0)
        fail_msg("no greeting");
    assert_int_equal(reply.notification, RPC_HELLO);
    if (hello_read(&reply.params, &hello) < 0)
        fail_msg("no greeting: %s", reply.fault.text);
    rpc_reply_finish(&reply);
    return hello;
}

void peer_reply(struct peer *peer, struct rpc_reply *reply)
{
    const char *line;
    size_t length;

    if (!next_line(peer, &line, &length))
        fail_msg("the connection ended");
    if (rpc_reply_parse(line, length, reply) < 0)
        fail_msg("no reply: %s: %.*s", reply->fault.text, (int)length, line);
    assert_true(reply->fds <= peer->in.fd_count);
}

int peer_fd(struct peer *peer)
{
    int fd;

    assert_int_equal(frame_take_fds(&peer->in, 1, &fd), 0);
    return fd;
}

static void assert_id(const struct rpc_reply *reply, int id)
{
    if (id < 0)
        return;
    assert_int_equal(reply->id.kind, RPC_ID_INT);
    assert_int_equal(reply->id.number, id);
}

const struct fault *peer_error(struct peer *peer, int id, enum fault_code code)
{
    static struct fault fault;
    struct rpc_reply reply;

    peer_reply(peer, &reply);
    assert_false(reply.ok);
    if (reply.error.code != code)
        fail_msg("%s expected, got %s: %s", fault_name(code), fault_name(reply.error.code),
                 reply.error.text);
    assert_id(&reply, id);
    fault = reply.error;
    rpc_reply_finish(&reply);
    return &fault;
}

static void ok_reply(struct peer *peer, int id, struct rpc_reply *reply)
{
    peer_reply(peer, reply);
    if (!reply->ok)
        fail_msg("a result expected, got %s: %s", fault_name(reply->error.code), reply->error.text);
    assert_id(reply, id);
}

int peer_ok(struct peer *peer, int id)
{
    struct rpc_reply reply;

    ok_reply(peer, id, &reply);
    rpc_reply_finish(&reply);
    return (int)reply.id.number;
}

int peer_result(struct peer *peer, int id, struct job_result *result)
{
    struct rpc_reply reply;

    ok_reply(peer, id, &reply);
    if (job_result_read(&reply.result, result) < 0)
        fail_msg("no job result: %s", reply.fault.text);
    rpc_reply_finish(&reply);
    return (int)reply.id.number;
}

void peer_expect_end(struct peer *peer)
{
    const char *line;
    size_t length;

    if (next_line(peer, &line, &length))
        fail_msg("the connection is still open: %.*s", (int)length, line);
}

void peer_expect_alive(struct peer *peer)
{
    peer_send(peer, NULL, 0, "{'jsonrpc':'2.0','id':4711,'method':'daemon.ping'}");
    peer_ok(peer, 4711);
}

struct daemon_info peer_info(struct peer *peer)
{
    struct rpc_reply reply;
    struct daemon_info info;

    peer_send(peer, NULL, 0, "{'jsonrpc':'2.0','id':815,'method':'daemon.info'}");
    ok_reply(peer, 815, &reply);
    if (daemon_info_read(&reply.result, &info) < 0)
        fail_msg("no info: %s", reply.fault.text);
    rpc_reply_finish(&reply);
    return info;
}

void fixture_config(struct config *config)
{
    config_defaults(config);
    config->log_level = LOG_CRIT;
    config->drain_ms = 0;
    config->watchdog.limit_ms = 0; /* disabled, because a transfer may take longer under valgrind */
}

void fixture_start(struct fixture *fixture)
{
    int fd;

    assert_int_equal(service_thread_start(&fixture->config, &fixture->thread, &fd), 0);
    peer_init(&fixture->peer, fd);
}

void fixture_stop(struct fixture *fixture)
{
    service_thread_stop(fixture->thread);
    peer_finish(&fixture->peer);
}

int fixture_warm_up(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_config(&fixture.config);
    fixture_start(&fixture);
    fixture_stop(&fixture);
    return 0;
}

int memfd_with(const void *bytes, size_t size)
{
    int fd = memfd_create("test", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    if (bytes)
        assert_int_equal(pwrite(fd, bytes, size, 0), size);
    return fd;
}

void assert_file(int fd, const void *bytes, size_t size)
{
    unsigned char *found = malloc(size + 1);

    assert_non_null(found);
    assert_int_equal(pread(fd, found, size + 1, 0), size);
    assert_memory_equal(found, bytes, size);
    free(found);
}

int count_fds(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;

    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}
