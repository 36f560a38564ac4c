/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection to the service: one request at a time, its reply awaited. */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault.h"
#include "frame.h"
#include "jsonw.h"
#include "options.h"
#include "rpc.h"

enum { CLIENT_PATH_MAX = 108 };

struct client {
    int socket; /* -1: not connected, or the connection was lost */
    struct frame frame;
    int64_t id;                 /* of the request to come */
    char path[CLIENT_PATH_MAX]; /* of the daemon's socket; empty: the service in this process */
};

/** Options of every command that talks to a daemon. */
#define CLIENT_OPTIONS                                                                             \
    {                                                                                              \
        "socket", 's', "PATH", "the daemon's socket ($MLID_SOCKET, else its default)"              \
    }

/**
 * Connects to the daemon at --socket, else $MLID_SOCKET, else where mlid listens by default.
 * Returns 0 or -1; client_finish() is legal after both.
 */
int client_open(struct client *client, const struct options *options, struct fault *fault);

/** Talks over a connected socket, which it owns from now on. As client_open(). */
int client_adopt(struct client *client, int socket, struct fault *fault);

void client_finish(struct client *client);

/** False once the connection is lost; every further call fails. */
bool client_connected(const struct client *client);

/**
 * Sends a request line with `fd_count` descriptors and waits for its reply, `timeout_ms` at most
 * (-1: as long as it takes) and not past a cancel. Returns 0 with *reply a good one, to be
 * finished by the caller; or -1: what the service answered, or what went wrong underneath (then
 * the connection is closed).
 */
int client_call(struct client *client, struct jsonw *request, const int *fds, size_t fd_count,
                int timeout_ms, struct rpc_reply *reply, struct fault *fault);

/** client_call() of a method without parameters, which any daemon answers within seconds. */
int client_ask(struct client *client, enum rpc_method method, struct rpc_reply *reply,
               struct fault *fault);

#endif /* CLI_CLIENT_H */
