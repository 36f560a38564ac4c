/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens, greets and closes connections. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/src/client_state.h"

enum { CONNECT_TRIES = 50, CONNECT_PAUSE_MS = 100 };

_Static_assert(SOCKET_PATH_MAX == sizeof(((struct sockaddr_un *)0)->sun_path), "one limit");

/* Creates a client without a socket. Returns null if there is no memory. */
static mli_client *create(int interrupt)
{
    mli_client *client = calloc(1, sizeof(*client));

    if (!client)
        return NULL;
    client->socket = -1;
    client->interrupt = interrupt;
    client->timeout_ms = -1;
    table_init(&client->table);
    jsonw_init(&client->params);
    if (frame_init(&client->in, PROTO_REPLY_MAX)) {
        free(client);
        return NULL;
    }
    return client;
}

int mli_client_socket_path(const char *path, char out[MLI_CLIENT_PATH_MAX], mli_client_error *error)
{
    const char *from_environment = getenv("MLID_SOCKET");
    const char *run = getenv("XDG_RUNTIME_DIR");

    if (!path && from_environment && *from_environment)
        path = from_environment;
    int length = SOCKET_PATH_MAX;
    if (path)
        length = snprintf(out, SOCKET_PATH_MAX, "%s", path);
    else if (run && *run == '/')
        length = snprintf(out, SOCKET_PATH_MAX, "%s/mlid.sock", run);
    /* config_default_socket() of mlid has the same rule. */
    if (!path && length >= SOCKET_PATH_MAX)
        length = snprintf(out, SOCKET_PATH_MAX, "/run/mlid.sock");
    if (length < SOCKET_PATH_MAX)
        return 0;
    return error_set(error, MLI_CLIENT_MISUSE,
                     "socket path: %d bytes given; at most %d are allowed", length,
                     SOCKET_PATH_MAX - 1);
}

/* Retries on EAGAIN, which means that the backlog is full: the daemon is busy or stopped. */
static int connect_patiently(int fd, const char *path, int interrupt)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    memcpy(address.sun_path, path, sizeof(address.sun_path));
    for (int i = 0; i < CONNECT_TRIES; i++) {
        if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
            return 0;
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
        struct pollfd polled = {.fd = interrupt, .events = POLLIN};
        if (poll(&polled, 1, CONNECT_PAUSE_MS) > 0)
            return -EINTR;
    }
    return -EAGAIN;
}

static int explain_connect(mli_client_error *error, const char *path, int failure)
{
    struct stat there;

    if (failure == -ECONNREFUSED && stat(path, &there) == 0 && !S_ISSOCK(there.st_mode))
        return error_set(error, MLI_CLIENT_NO_SERVICE, "%s is not a socket", path);
    switch (failure) {
    case -ENOENT:
    case -ENOTDIR:
    case -ECONNREFUSED:
        return error_set(error, MLI_CLIENT_NO_SERVICE, "no daemon listens at %s", path);
    case -EAGAIN:
        return error_set(error, MLI_CLIENT_BUSY,
                         "the daemon at %s accepts no connection: it is stopped or overloaded",
                         path);
    case -EINTR:
        return error_set(error, MLI_CLIENT_INTERRUPTED, "interrupted");
    default:
        return error_set(error, MLI_CLIENT_LOST, "cannot connect to %s: %s", path,
                         strerror(-failure));
    }
}

/* Connects the socket; `found` becomes its path. */
static int open_socket(const char *path, int interrupt, char found[SOCKET_PATH_MAX], int *out,
                       mli_client_error *error)
{
    memset(found, 0, SOCKET_PATH_MAX);
    int status = mli_client_socket_path(path, found, error);
    if (status)
        return status;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return error_set(error, MLI_CLIENT_SYSTEM, "socket: %s", strerror(errno));
    int failure = connect_patiently(fd, found, interrupt);
    if (failure) {
        close(fd);
        return explain_connect(error, found, failure);
    }
    *out = fd;
    return 0;
}

int mli_client_open_socket(const char *path, int interrupt, int *out, mli_client_error *error)
{
    char found[SOCKET_PATH_MAX];

    return open_socket(path, interrupt, found, out, error);
}

int mli_client_connect_interruptible(const char *path, int interrupt, mli_client **out,
                                     mli_client_error *error)
{
    char found[SOCKET_PATH_MAX];
    int fd = -1;
    int status = open_socket(path, interrupt, found, &fd, error);

    if (status == 0)
        status = mli_client_adopt(fd, 0, out, error);
    if (status)
        return status;
    memcpy((*out)->path, found, sizeof(found));
    (*out)->interrupt = interrupt;
    return 0;
}

int mli_client_connect(const char *path, mli_client **client, mli_client_error *error)
{
    return mli_client_connect_interruptible(path, -1, client, error);
}

int mli_client_adopt(int socket, unsigned flags, mli_client **out, mli_client_error *error)
{
    int status = 0, mode = fcntl(socket, F_GETFL);
    mli_client *client = NULL;

    if (mode < 0 || fcntl(socket, F_SETFL, mode | O_NONBLOCK))
        status = error_set(error, MLI_CLIENT_SYSTEM, "socket: %s", strerror(errno));
    else if (!(client = create(-1)))
        status = error_set(error, MLI_CLIENT_NO_MEMORY, "out of memory");
    if (!client) {
        close(socket);
        return status;
    }
    client->socket = socket;
    client->inlined = flags & MLI_CLIENT_INLINE;
    *out = client;
    return 0;
}

int mli_client_spawn(char *const argv[], mli_client **out, mli_client_error *error)
{
    pid_t child;
    int socket;
    int status = child_start(argv, &child, &socket, error);

    if (status)
        return status;
    status = mli_client_adopt(socket, MLI_CLIENT_INLINE, out, error);
    if (status) {
        child_end(child);
        return status;
    }
    (*out)->child = child;
    snprintf((*out)->path, sizeof((*out)->path), "%s", argv[0]);
    return 0;
}

void mli_client_close(mli_client *client)
{
    if (!client || client->depth > 0)
        return;
    if (client->socket >= 0)
        close(client->socket);
    if (client->child > 0)
        child_end(client->child);
    out_finish(&client->out);
    frame_finish(&client->in);
    table_finish(&client->table);
    jsonw_finish(&client->params);
    free(client);
}

int mli_client_command_status(mli_client *client)
{
    if (client->child <= 0 || client->socket >= 0)
        return -1;
    int status = child_wait(client->child);
    if (status >= 0)
        client->child = 0;
    return status;
}

const char *mli_client_path(const mli_client *client)
{
    return client->path;
}

bool mli_client_connected(const mli_client *client)
{
    return client->socket >= 0;
}

void mli_client_set_interrupt(mli_client *client, int interrupt)
{
    client->interrupt = interrupt;
}

void mli_client_set_timeout(mli_client *client, int timeout_ms)
{
    client->timeout_ms = timeout_ms;
}

int mli_client_greet(mli_client *client, mli_client_greeting *greeting, mli_client_error *error)
{
    int64_t deadline = clock_deadline(client->timeout_ms);
    int status = request_may_wait(client, error);

    while (status == 0 && !client->greeted)
        status = wait_round(client, deadline, error);
    if (status)
        return status;
    const struct hello *hello = &client->hello;
    *greeting = (mli_client_greeting){.protocol = hello->protocol,
                                      .client = hello->client,
                                      .jobs = hello->jobs,
                                      .job_bytes = hello->job_bytes,
                                      .buffers = hello->buffers,
                                      .buffer_bytes = hello->buffer_bytes,
                                      .prepared = hello->prepared};
    memcpy(greeting->version, hello->version, sizeof(greeting->version));
    return 0;
}
