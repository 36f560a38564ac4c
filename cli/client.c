/* SPDX-License-Identifier: BSD-3-Clause */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "cancel.h"
#include "config.h"
#include "fdpass.h"

enum {
    CONNECT_TRIES = 50, /* while the daemon's backlog is full */
    CONNECT_PAUSE_MS = 100,
    ASK_MS = 5000 /* for what costs a daemon nothing */
};

static int lost(struct fault *fault, const char *why)
{
    return fault_set(fault, FAULT_STREAM_ERROR, NULL, "the connection to the daemon is lost: %s",
                     why);
}

/* Settles client->path. */
static int find_path(struct client *client, const char *given, struct fault *fault)
{
    const char *from_environment = getenv("MLID_SOCKET");
    if (!given && from_environment && *from_environment)
        given = from_environment;
    struct config config;
    config_defaults(&config);
    _Static_assert(sizeof(config.socket) == CLIENT_PATH_MAX, "one limit, that of sockaddr_un");
    if (given && strlen(given) >= sizeof(config.socket))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "socket path: %zu bytes given, at most %zu are possible", strlen(given),
                         sizeof(config.socket) - 1);
    snprintf(config.socket, sizeof(config.socket), "%s", given ? given : "");
    config_default_socket(&config);
    memcpy(client->path, config.socket, sizeof(client->path));
    return 0;
}

/* Takes over a non-blocking socket. */
static int begin(struct client *client, int socket, struct fault *fault)
{
    client->socket = socket;
    client->id = 1;
    int error = frame_init(&client->frame, PROTO_REPLY_MAX);
    return error ? fault_set(fault, FAULT_INTERNAL, NULL, "%s", strerror(-error)) : 0;
}

int client_adopt(struct client *client, int socket, struct fault *fault)
{
    *client = (struct client){.socket = socket};
    int flags = fcntl(socket, F_GETFL);
    if (flags < 0 || fcntl(socket, F_SETFL, flags | O_NONBLOCK))
        return lost(fault, strerror(errno));
    return begin(client, socket, fault);
}

/* A full backlog says EAGAIN: the daemon is there but busy, or stopped. */
static int connect_patiently(int socket, const struct sockaddr_un *address)
{
    for (int i = 0; i < CONNECT_TRIES && !cancel_requested(); i++) {
        if (connect(socket, (const struct sockaddr *)address, sizeof(*address)) == 0)
            return 0;
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
        struct pollfd cancelled = {.fd = cancel_fd(), .events = POLLIN};
        poll(&cancelled, 1, CONNECT_PAUSE_MS);
    }
    return -EAGAIN;
}

static int refuse_connect(const char *path, int error, struct fault *fault)
{
    switch (error) {
    case -ENOENT:
    case -ENOTDIR:
    case -ECONNREFUSED:
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "no daemon listens at %s; start one with `mlid --socket %s`, or use "
                         "`mlictl run`",
                         path, path);
    case -EAGAIN:
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "the daemon at %s takes no connection: it is stopped or overloaded", path);
    default:
        return fault_set(fault, FAULT_STREAM_ERROR, NULL, "no connection to %s: %s", path,
                         strerror(-error));
    }
}

int client_open(struct client *client, const struct options *options, struct fault *fault)
{
    *client = (struct client){.socket = -1};
    if (find_path(client, options_get(options, "socket"), fault))
        return -1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, client->path, sizeof(address.sun_path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fault_set(fault, FAULT_INTERNAL, NULL, "socket: %s", strerror(errno));
    int error = connect_patiently(fd, &address);
    if (error == 0)
        return begin(client, fd, fault);
    close(fd);
    if (cancel_requested())
        return cancel_fault(fault);
    return refuse_connect(client->path, error, fault);
}

static void disconnect(struct client *client)
{
    if (client->socket >= 0)
        close(client->socket);
    client->socket = -1;
}

void client_finish(struct client *client)
{
    disconnect(client);
    if (client->frame.buffer)
        frame_finish(&client->frame);
    *client = (struct client){.socket = -1};
}

bool client_connected(const struct client *client)
{
    return client->socket >= 0;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits until the socket is ready for `events`. deadline < 0: for ever. */
static int wait_for(const struct client *client, short events, int64_t deadline,
                    struct fault *fault)
{
    for (;;) {
        struct pollfd polled[] = {{.fd = client->socket, .events = events},
                                  {.fd = cancel_fd(), .events = POLLIN}};
        int64_t left = deadline < 0 ? -1 : deadline - now_ms();
        if (deadline >= 0 && left < 0)
            left = 0;
        int ready = poll(polled, 2, (int)left);
        if (ready < 0 && errno != EINTR)
            return lost(fault, strerror(errno));
        if (cancel_requested())
            return cancel_fault(fault);
        if (ready > 0)
            return 0;
        if (ready == 0)
            return fault_set(fault, FAULT_TIMED_OUT, NULL, "the daemon does not answer");
    }
}

static int send_line(struct client *client, const char *line, size_t length, const int *fds,
                     size_t fd_count, int64_t deadline, struct fault *fault)
{
    for (size_t done = 0; done < length;) {
        ssize_t sent =
            fd_send(client->socket, line + done, length - done, fds, done ? 0 : fd_count);
        if (sent == -EAGAIN) {
            if (wait_for(client, POLLOUT, deadline, fault))
                return -1;
        } else if (sent == -EPIPE || sent == -ECONNRESET) {
            return 0; /* it may have said why before it hung up: read that */
        } else if (sent < 0 && sent != -EINTR) {
            return lost(fault, strerror((int)-sent));
        } else if (sent > 0) {
            done += (size_t)sent;
        }
    }
    return 0;
}

/* Receives into the frame until a whole line is there. */
static int receive_line(struct client *client, const char **line, size_t *length, int64_t deadline,
                        struct fault *fault)
{
    while (!frame_next(&client->frame, line, length)) {
        size_t room = 0;
        char *bytes = frame_room(&client->frame, &room);
        if (!bytes)
            return lost(fault, "it sent a line that is too long");
        int fds[PROTO_FDS_MAX];
        size_t count = 0;
        ssize_t got = fd_recv(client->socket, bytes, room, fds, &count);
        if (got == -EAGAIN) {
            if (wait_for(client, POLLIN, deadline, fault))
                return -1;
            continue;
        }
        if (got == -EINTR)
            continue;
        if (got == 0)
            return lost(fault, "it closed the connection");
        if (got < 0)
            return lost(fault, strerror((int)-got));
        frame_commit(&client->frame, (size_t)got);
        if (count && frame_push_fds(&client->frame, fds, count))
            return lost(fault, "it sent descriptors nobody asked for");
    }
    return 0;
}

/* The next line that is a reply: notifications, as the greeting, come whenever they like. */
static int receive_reply(struct client *client, struct rpc_reply *reply, int64_t deadline,
                         struct fault *fault)
{
    for (;;) {
        const char *line;
        size_t length;
        if (receive_line(client, &line, &length, deadline, fault))
            return -1;
        int status = rpc_reply_parse(line, length, reply);
        if (status == 0 && reply->notification == RPC_NOT_A_NOTIFICATION)
            return 0;
        char why[FAULT_TEXT_MAX];
        snprintf(why, sizeof(why), "%s", reply->fault.text);
        rpc_reply_finish(reply);
        if (status)
            return lost(fault, why);
    }
}

/* It is the reply to request `id`. An error without an id concerns the whole connection. */
static int check_reply(const struct rpc_reply *reply, int64_t id, struct fault *fault)
{
    bool ours = reply->id.kind == RPC_ID_INT && reply->id.number == id;
    if (!ours && (reply->ok || reply->id.kind != RPC_ID_NULL))
        return lost(fault, "it answered what was not asked");
    if (!reply->ok) {
        *fault = reply->error;
        return -1;
    }
    return 0;
}

/* A service in this process that is lost is no daemon that is lost. */
static int explain_own(const struct client *client, struct fault *fault)
{
    if (*client->path || fault->code != FAULT_STREAM_ERROR)
        return -1;
    if (fault->has_pointer && strcmp(fault->pointer, "/fds") == 0)
        return fault_set(fault, FAULT_LIMIT, NULL,
                         "too few file descriptors are left for the job; see ulimit -n");
    fault->code = FAULT_INTERNAL;
    return -1;
}

int client_call(struct client *client, struct jsonw *request, const int *fds, size_t fd_count,
                int timeout_ms, struct rpc_reply *reply, struct fault *fault)
{
    if (!client_connected(client)) {
        lost(fault, "it was closed before");
        return explain_own(client, fault);
    }
    const char *text = jsonw_text(request);
    if (!text)
        return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
    if (request->length > PROTO_LINE_MAX)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "the job is %zu bytes on the wire, at most %d are possible",
                         request->length, PROTO_LINE_MAX);
    int64_t deadline = timeout_ms < 0 ? -1 : now_ms() + timeout_ms;
    if (send_line(client, text, request->length, fds, fd_count, deadline, fault) ||
        receive_reply(client, reply, deadline, fault)) {
        disconnect(client);
        return explain_own(client, fault);
    }
    int result = check_reply(reply, client->id, fault);
    if (result)
        rpc_reply_finish(reply);
    if (result && fault->code == FAULT_STREAM_ERROR)
        disconnect(client);
    client->id++;
    return result ? explain_own(client, fault) : 0;
}

int client_ask(struct client *client, enum rpc_method method, struct rpc_reply *reply,
               struct fault *fault)
{
    struct jsonw request;
    jsonw_init(&request);
    rpc_write_call(&request, client->id, method);
    int status = client_call(client, &request, NULL, 0, ASK_MS, reply, fault);
    jsonw_finish(&request);
    return status;
}
