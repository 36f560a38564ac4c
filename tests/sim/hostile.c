/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients on raw sockets: clients that break the protocol, and clients that rarely read. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/wire/frame.h"
#include "tests/sim/actors.h"
#include "tests/sim/real.h"
#include "tests/sim/world.h"

enum { LINE_MAX_BYTES = 2048, ATTACKS_MAX = 30, PATIENCE_MS = 200, FDS_SENT_MAX = 4 };

/* Requests of all methods; each % is replaced by a random number. */
static const char *const requests[] = {
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.ping\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":%,\"method\":\"daemon.stats\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":%,\"method\":\"job.list\",\"params\":{\"limit\":%}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%,\"method\":\"job.cancel\",\"params\":{\"job\":%}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%,\"method\":\"job.wait\",\"params\":{\"job\":%,\"timeout_ms\":%}"
    "}",
    "{\"jsonrpc\":\"2.0\",\"id\":%,\"method\":\"job.release\",\"params\":{\"prepared\":%}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%,\"method\":\"job.start\",\"params\":{\"prepared\":%}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%,\"method\":\"buffer.alloc\",\"params\":{\"size\":%}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%,\"method\":\"buffer.release\",\"params\":{\"buffer\":%}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%,\"method\":\"buffer.list\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":%,\"method\":\"events.subscribe\",\"params\":{\"events\":"
    "[\"job.done\",\"job.started\"]}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%,\"fds\":1,\"method\":\"buffer.register\",\"params\":{\"fd\":0}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%,\"fds\":2,\"method\":\"job.submit\",\"params\":{\"op\":\"mov\","
    "\"src\":{\"fd\":0,\"type\":\"fx8\",\"shape\":[%]},\"dst\":{\"fd\":1}}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%,\"fds\":2,\"method\":\"job.submit\",\"params\":{\"op\":\"mov\","
    "\"detach\":true,\"src\":{\"fd\":0,\"type\":\"fx8\",\"shape\":[%]},\"dst\":{\"fd\":1}}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%,\"fds\":2,\"method\":\"job.prepare\",\"params\":{\"op\":\"mov\","
    "\"src\":{\"fd\":0,\"type\":\"fx8\",\"shape\":[%]},\"dst\":{\"fd\":1}}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%,\"method\":\"daemon.drain\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":%,\"method\":\"nothing\",\"params\":[[[[%]]]]}",
};
enum { REQUESTS = sizeof requests / sizeof *requests };

static uint32_t some_number(void)
{
    static const uint32_t edges[] = {0, 1, 2, 4, 64, 4096, 65535, UINT32_MAX};

    return world_chance(3000) ? edges[world_below(sizeof edges / sizeof *edges)]
                              : world_below(1u << world_below(20));
}

static size_t write_request(char line[LINE_MAX_BYTES])
{
    const char *text = requests[world_below(REQUESTS)];
    size_t length = 0;

    for (; *text; text++) {
        if (*text == '%')
            length += (size_t)snprintf(line + length, LINE_MAX_BYTES - length, "%u", some_number());
        else
            line[length++] = *text;
    }
    line[length++] = '\n';
    return length;
}

/* Changes some bytes of the line, or cuts it. */
static size_t spoil(char *line, size_t length)
{
    for (uint32_t i = world_below(4); i > 0; i--)
        line[world_below((uint32_t)length)] = (char)world_below(256);
    return world_chance(2000) ? 1 + world_below((uint32_t)length) : length;
}

static bool is_lost(ssize_t result)
{
    return result == 0 || (result < 0 && result != -EAGAIN && result != -EINTR);
}

/* Waits for an event of the socket. Returns false if nothing happens for a while. */
static bool wait_for(int fd, short events)
{
    struct pollfd entry = {.fd = fd, .events = events};

    return poll(&entry, 1, PATIENCE_MS) > 0;
}

/*
 * Reads the available bytes, and closes descriptors that come with them. Returns false at the end
 * of the stream.
 */
static bool read_some(int fd)
{
    char bytes[4096];
    int fds[FD_RECV_MAX];
    size_t count;
    const ssize_t result = fd_recv_all(fd, bytes, sizeof bytes, fds, &count);

    fd_close_all(fds, count);
    return !is_lost(result);
}

/*
 * Sends a line; unless `deaf`, also reads replies meanwhile. Returns false if the connection is
 * lost.
 */
static bool send_line(int fd, const char *line, size_t length, const int *fds, size_t count,
                      bool deaf)
{
    while (length > 0) {
        const ssize_t sent = fd_send(fd, line, length, fds, count);

        if (sent > 0) {
            line += sent;
            length -= (size_t)sent;
            count = 0;
        } else if (is_lost(sent)) {
            return false;
        } else if (!wait_for(fd, POLLOUT)) {
            return !deaf && read_some(fd);
        }
    }
    return true;
}

/* Makes descriptors of all kinds: files, a socket, an event counter. */
static size_t some_descriptors(struct actor *actor, int fds[FDS_SENT_MAX])
{
    const size_t count = world_chance(6000) ? 2 : world_below(FDS_SENT_MAX + 1);

    for (size_t i = 0; i < count; i++) {
        int pair[2];

        if (world_chance(8000)) {
            fds[i] = kernel_file(&actor->process, world_below(8192), world_chance(3000));
        } else {
            (void)socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
            close(pair[1]);
            fds[i] = pair[0];
        }
    }
    return count;
}

static bool attack(struct actor *actor, int socket, bool deaf)
{
    char line[LINE_MAX_BYTES];
    int fds[FDS_SENT_MAX];
    size_t length = write_request(line), count = some_descriptors(actor, fds);
    bool alive;

    if (actor->role == ROLE_HOSTILE && world_chance(2000))
        length = spoil(line, length);
    alive = send_line(socket, line, length, fds, count, deaf);
    fd_close_all(fds, count);
    return alive;
}

void hostile_run(struct actor *actor)
{
    const int socket = actor_connect(actor);
    bool alive = socket >= 0;

    for (uint32_t i = world_between(1, ATTACKS_MAX); alive && i > 0; i--) {
        alive = attack(actor, socket, false);
        if (alive && world_chance(5000) && wait_for(socket, POLLIN))
            alive = read_some(socket);
        if (alive && world_chance(300))
            shutdown(socket, SHUT_WR);
        actor_think(actor);
    }
    if (socket >= 0)
        close(socket);
}

void slow_run(struct actor *actor)
{
    const int socket = actor_connect(actor);
    bool alive = socket >= 0;

    for (uint32_t i = world_between(1, 10 * ATTACKS_MAX); alive && i > 0; i--)
        alive = attack(actor, socket, true);
    actor_think(actor);
    while (alive && wait_for(socket, POLLIN) && !actors_are_stopping()) {
        alive = read_some(socket);
        actor_think(actor);
    }
    if (socket >= 0)
        close(socket);
}
