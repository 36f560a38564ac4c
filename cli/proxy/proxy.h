/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inline payload <-> descriptors ("Inline payload" in PROTOCOL.md), between a stream and a daemon's
 * socket.
 *
 *     stdin  -> upward.c   lines; the bytes behind them into memfds -> daemon, with the memfds
 *     stdout <- downward.c lines; the bytes of those memfds         <- daemon
 *
 * Memory is bounded: the memfds of requests under way have 1 GiB together, lines wait in buffers of
 * a fixed size, and whoever does not take what is his is not read from.
 */
#ifndef CLI_PROXY_PROXY_H
#define CLI_PROXY_PROXY_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/wire/frame.h"
#include "proto/wire/inline_payload.h"
#include "proto/wire/out.h"
#include "proto/wire/rpc.h"

enum {
    PROXY_WAITING_MAX = 256 * 1024, /* bytes for one side, above which the other is not read */
    PROXY_REQUESTS_MAX = 1024       /* under way that want bytes back */
};

/* A request whose bytes become memfds. */
struct proxy_request {
    struct rpc_id id;
    uint32_t count;
    int fds[PROTO_FDS_MAX];
    struct inline_payload payload;
    uint64_t size; /* of all memfds */
};

/* One that is being received. */
struct proxy_intake {
    bool active;
    bool refused; /* its bytes are dropped, then it is answered with the fault */
    struct fault fault;
    struct proxy_request request;
    char *line; /* for the daemon; owned */
    size_t length;
    uint32_t index;
    uint64_t offset;
};

struct proxy {
    int input, output, daemon;
    struct frame from_client, from_daemon;
    struct out to_client, to_daemon;
    struct proxy_intake intake;
    struct proxy_request *requests; /* under way, in no order */
    size_t count;
    uint64_t bytes; /* of their memfds and the intake's */
    bool greeted;   /* the daemon's first line has gone to the client: its turn to speak */
    bool leaving;   /* the stream from the client cannot be followed: answer and end */
};

/** Why a proxy ends. */
enum proxy_end { PROXY_GOES_ON, PROXY_CLIENT_GONE, PROXY_DAEMON_GONE, PROXY_FAILED };

/** Returns 0 or -ENOMEM; proxy_finish() is legal after both. It owns the daemon's socket. */
int proxy_init(struct proxy *proxy, int input, int output, int daemon);
void proxy_finish(struct proxy *proxy);

/** Until one side ends or ^C. */
enum proxy_end proxy_run(struct proxy *proxy);

/* What the files of this folder do for one another. */

/** Takes in what the client has sent. */
enum proxy_end upward_receive(struct proxy *proxy);
/** Handles what is there already, as far as memory allows. */
enum proxy_end upward_handle(struct proxy *proxy);
/** Whether there is room for what the client sends. */
bool upward_open(const struct proxy *proxy);
/** The same, of what the daemon sends. */
enum proxy_end downward_receive(struct proxy *proxy);
bool downward_open(const struct proxy *proxy);

void request_close(struct proxy *proxy, struct proxy_request *request);

#endif /* CLI_PROXY_PROXY_H */
