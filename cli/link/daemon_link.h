/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection to the service: libmli_client with mlictl's options, ^C and messages. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/link/boards.h"
#include "cli/options.h"
#include "mli_client.h"
#include "proto/json/fault.h"
#include "proto/json/jsonw.h"
#include "proto/wire/rpc.h"

struct daemon_info;

enum {
    DAEMON_LINK_WHERE_MAX = 320,
    DAEMON_LINK_ASK_MS = 5000 /* timeout for calls that a daemon answers at once */
};

struct daemon_link {
    mli_client *library;               /* null: not connected, or the connection is lost */
    struct board_link *board;          /* a board at a serial line, instead of a daemon; or null */
    bool remote;                       /* by ssh */
    bool greeted;                      /* true: the remote daemon has answered */
    bool absent;                       /* no daemon listens at the socket */
    char where[DAEMON_LINK_WHERE_MAX]; /* socket or host; empty: the service in this process */
    const char *limit_source; /* where the limit of the service in this process was set; static */
};

#define SOCKET_OPTION(help) OPTION("socket", "PATH", help, .takes = &value_file)

/** --socket of every command that talks to a daemon. */
#define DAEMON_SOCKET_OPTION                                                                       \
    SOCKET_OPTION("Connect to the daemon at this socket (default: $MLID_SOCKET, else mlid's "      \
                  "own).")

/** Options of the commands that talk to a daemon. */
#define DAEMON_LINK_OPTIONS                                                                        \
    DAEMON_SOCKET_OPTION,                                                                          \
        OPTION(                                                                                    \
            "host", "URL",                                                                         \
            "Connect to the daemon at ssh://[user@]host[:port] (default: $MLID_HOST, else none).")

/** Options of the commands that also talk to a board at a serial line (daemon_link_open_any()). */
#define ANY_LINK_OPTIONS                                                                           \
    DAEMON_SOCKET_OPTION,                                                                          \
        OPTION("host", "URL",                                                                      \
               "Connect to the daemon at ssh://[user@]host[:port]" BOARDS_WORDS(                   \
                   ", or to a board at qemu:BOARD or serial:PATH") " (default: $MLID_HOST, else "  \
                                                                   "none).")

/** Options of the commands that run jobs in this process, or on a daemon or board. */
#define DAEMON_RUN_OPTIONS                                                                         \
    SOCKET_OPTION("Run on the daemon at this socket (default: in this process)."),                 \
        OPTION(                                                                                    \
            "host", "URL",                                                                         \
            "Run on the daemon at ssh://[user@]host[:port]" BOARDS_WORDS(                          \
                ", or on the board at qemu:BOARD or serial:PATH") " (default: in this process).")

/**
 * Connects to the daemon, or the board at a serial line, that --host or $MLID_HOST names. Apart
 * from that, like daemon_link_open().
 */
int daemon_link_open_any(struct daemon_link *link, const struct options *options,
                         struct fault *fault);

/**
 * Connects to the daemon at --socket, else $MLID_SOCKET, else the default socket of mlid; with
 * --host or $MLID_HOST, to a daemon by ssh. Refuses a board. Returns 0 or -1; daemon_link_finish()
 * is legal after both.
 */
int daemon_link_open(struct daemon_link *link, const struct options *options, struct fault *fault);

/** Takes ownership of a connected socket. Apart from that, like daemon_link_open(). */
int daemon_link_adopt(struct daemon_link *link, int socket, struct fault *fault);

void daemon_link_finish(struct daemon_link *link);

/** Returns false if the connection is lost: all calls fail from then on. */
bool daemon_link_connected(const struct daemon_link *link);

/* A request: a method, its params (or null), and its descriptors. */
struct daemon_link_request {
    const char *method;
    struct jsonw *params;
    const mli_client_attachment *attachments;
    size_t count;
    int timeout_ms; /* timeout for the reply; -1: no limit */
};

/**
 * Sends a request and waits for its reply or a cancel. Returns 0 with a successful *reply, which
 * the caller finishes; or -1 with the error of the service, or of the connection, which is closed
 * then.
 */
int daemon_link_call(struct daemon_link *link, const struct daemon_link_request *request,
                     struct rpc_reply *reply, struct fault *fault);

/** Requests the daemon's description of itself. */
int daemon_link_info(struct daemon_link *link, struct daemon_info *info, struct fault *fault);

/** Fills the fault for a result that does not follow the protocol. Returns -1. */
int daemon_link_unreadable(const struct rpc_reply *reply, struct fault *fault);

/** Fills the fault from an error of the library; closes an unusable connection. Returns -1. */
int daemon_link_fault(struct daemon_link *link, const mli_client_error *error, struct fault *fault);
