/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection to the service: libmli_client with mlictl's options, ^C and messages. */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"
#include "mli_client.h"
#include "proto/json/fault.h"
#include "proto/json/jsonw.h"
#include "proto/wire/rpc.h"

enum { CLIENT_WHERE_MAX = 320, CLIENT_ASK_MS = 5000 /* for what costs a daemon nothing */ };

struct client {
    mli_client *library;          /* null: not connected, or the connection was lost */
    bool remote;                  /* by ssh */
    bool greeted;                 /* remote: the daemon has answered */
    bool absent;                  /* nobody listens where the daemon should */
    char where[CLIENT_WHERE_MAX]; /* socket or host; empty: the service in this process */
    const char *limit_source;     /* static: what sets the limit of the service in this process */
};

/** Options of every command that talks to a daemon. */
#define CLIENT_OPTIONS                                                                             \
    {"socket", 's', "PATH",                                                                        \
     "Connect to the daemon at this socket (default: $MLID_SOCKET, else mlid's own).",             \
     .takes = &value_file},                                                                        \
    {                                                                                              \
        "host", 'H', "URL",                                                                        \
            "Connect to the daemon of ssh://[user@]host[:port] (default: $MLID_HOST, else none)."  \
    }

/**
 * Connects to the daemon at --socket, else $MLID_SOCKET, else where mlid listens by default; with
 * --host or $MLID_HOST, to the one there. Returns 0 or -1; client_finish() is legal after both.
 */
int client_open(struct client *client, const struct options *options, struct fault *fault);

/** Talks over a connected socket, which it owns from now on. As client_open(). */
int client_adopt(struct client *client, int socket, struct fault *fault);

void client_finish(struct client *client);

/** False once the connection is lost; every further call fails. */
bool client_connected(const struct client *client);

/* A request: a method, its params (or null), and the descriptors that go with it. */
struct client_request {
    const char *method;
    struct jsonw *params;
    const mli_client_attachment *attachments;
    size_t count;
    int timeout_ms; /* -1: as long as it takes */
};

/**
 * Sends a request and waits for its reply, not past a cancel. Returns 0 with *reply a good one, to
 * be finished by the caller; or -1: what the service answered, or what went wrong underneath (then
 * the connection is closed).
 */
int client_call(struct client *client, const struct client_request *request,
                struct rpc_reply *reply, struct fault *fault);

/** client_call() of a method without parameters, which any daemon answers within seconds. */
int client_ask(struct client *client, const char *method, struct rpc_reply *reply,
               struct fault *fault);

/** Fills the fault with the complaint of an answer that has not what it should. Returns -1. */
int client_unreadable(const struct rpc_reply *reply, struct fault *fault);

/** What the library says went wrong, as mlictl tells it; drops a connection that is no more of use.
 *  Returns -1. */
int client_fault(struct client *client, const mli_client_error *error, struct fault *fault);

#endif /* CLI_CLIENT_H */
