/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The remote end of `mlictl -H`: converts between inline payload ("Inline payload" in PROTOCOL.md)
 * on standard input and output, and descriptors on the daemon's socket.
 *
 *     stdin  -> upward.c  lines; payload bytes are written to memfds -> daemon, with the memfds
 *     stdout <- proxy.c   lines; the bytes of those memfds           <- daemon
 *
 * Memory is bounded: the memfds of all requests under way have at most 1 GiB, lines wait in buffers
 * of a fixed size, and a side that does not read its output is not read from.
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
    PROXY_WAITING_MAX = 256 * 1024, /* most unsent bytes to one side; above this, the proxy does not
                                       read from the other side */
    PROXY_REQUESTS_MAX = 1024       /* requests under way that expect payload */
};

/* A request with its payload in memfds. */
struct proxy_request {
    struct rpc_id id;
    uint32_t count;
    int fds[PROTO_FDS_MAX];
    struct inline_payload payload;
    uint64_t size; /* total size of all memfds */
};

/* The request that is being received. */
struct proxy_intake {
    bool active;
    bool refused; /* true: drop the payload, then send the fault as the reply */
    struct fault fault;
    struct proxy_request request;
    char *line; /* the line for the daemon; owned */
    size_t length;
    uint32_t index;
    uint64_t offset;
};

struct proxy {
    int input, output, daemon;
    struct frame from_client, from_daemon;
    struct out to_client, to_daemon;
    struct proxy_intake intake;
    struct proxy_request *requests; /* requests under way, unordered */
    size_t count;
    uint64_t bytes; /* bytes in the memfds of `requests` and `intake` */
    bool greeted;   /* true: the greeting has gone to the client, which may send requests now */
    bool leaving;   /* true: the stream from the client is broken; send the last reply and end */
};

/** Why a proxy ends. */
enum proxy_end { PROXY_GOES_ON, PROXY_CLIENT_GONE, PROXY_DAEMON_GONE, PROXY_FAILED };

/** Takes ownership of `daemon`. Returns 0 or -ENOMEM; call proxy_finish() in both cases. */
int proxy_init(struct proxy *proxy, int input, int output, int daemon);
void proxy_finish(struct proxy *proxy);

/** Runs until one side ends or ^C. Returns why. */
enum proxy_end proxy_run(struct proxy *proxy);

/* Functions of upward.c, for proxy.c. */

/** Reads from the client once and handles what has been read. */
enum proxy_end upward_receive(struct proxy *proxy);
/** Handles what has been read already, as far as memory allows. */
enum proxy_end upward_handle(struct proxy *proxy);
/** Returns whether the proxy has memory for more requests. */
bool upward_open(const struct proxy *proxy);

/* Functions of proxy.c, for upward.c. */

/** Prints why the proxy cannot continue. Returns PROXY_FAILED. */
enum proxy_end proxy_failed(const char *why);
/** Closes the memfds of a request. */
void proxy_request_close(struct proxy *proxy, struct proxy_request *request);

#endif /* CLI_PROXY_PROXY_H */
