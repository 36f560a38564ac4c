/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection. The way of a request and of its answer:
 *
 *     mli_client_*() -> params as JSON -> request.c (envelope, slot) -> out.c -> socket
 *     socket -> receive.c (lines, bytes) -> quick.c, or proto's parser -> reply.c (slot)
 *            -> callback, or whoever waits (wait.c)
 *
 * To add a method: write its params with proto's writer, request_call() it, and read the reply.
 */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/src/client_error.h"
#include "client/src/client_table.h"
#include "mli_client.h"
#include "proto/json/jsonw.h"
#include "proto/wire/frame.h"
#include "proto/wire/hello.h"
#include "proto/wire/out.h"

enum { SOCKET_PATH_MAX = MLI_CLIENT_PATH_MAX, OUT_ENOUGH = 32 * 1024 };

/* Bytes that follow a reply: whose, and how many are left for each descriptor. */
struct payload {
    mli_client_ticket ticket; /* 0: none follow */
    uint32_t count, index;
    uint64_t offset, left[PROTO_FDS_MAX];
};

struct mli_client {
    int socket; /* -1: lost */
    bool inlined;
    pid_t child; /* 0: none */
    char path[SOCKET_PATH_MAX];
    int interrupt, timeout_ms;
    struct frame in;
    struct out out;
    struct payload payload;
    struct table table;
    struct jsonw params; /* its memory is used again */
    mli_client_error lost;
    unsigned depth; /* of callbacks that run */
    bool greeted;
    struct hello hello;
    mli_client_event_fn *on_event;
    void *event_user;
    mli_client_notify_fn *on_notify;
    void *notify_user;
};

/** Milliseconds of the monotonic clock. */
int64_t clock_ms(void);
/** When `timeout_ms` from now will be; -1: never. */
int64_t clock_deadline(int timeout_ms);

/** The stream cannot go on. What the service has said so far is yet to be read; then it is lost. */
void connection_hang_up(mli_client *client);

/** Ends the connection: every request that waits fails. Returns
 *  MLI_CLIENT_LOST or what `why` says. */
int connection_lose(mli_client *client, const mli_client_error *why);
/** The same, where nobody said why: "the connection to the daemon is lost: ...". */
int connection_lost(mli_client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif /* CLIENT_CLIENT_H */
