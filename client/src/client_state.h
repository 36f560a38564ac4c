/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libmli_client: one connection to mlid. Data flow of a request and its reply:
 *
 *     mli_client_*(): jobs.c, prepared.c, buffers.c, service.c, event.c
 *         -> params as JSON -> client_request.c (envelope, slot) -> out.c -> socket
 *     socket -> receive.c (lines, bytes) -> quick.c, or rpc_reply_parse() -> slot (client_table.c)
 *         -> callback, or the call that waits (client_wait.c)
 *
 * To add a method, start here: declare it in mli_client.h, and write it as
 * mli_client_get_info() in service.c: write its params with proto's write function, call_begin(),
 * read the reply with proto's read function, call_finish(). Test it in
 * tests/unit/client/test_calls.c. proto/wire/rpc.h has proto's half.
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

/* The bytes after a reply (inline): their request, and the bytes left for each descriptor. */
struct payload {
    mli_client_ticket ticket; /* ticket of the request; 0: no bytes follow */
    uint32_t count, index;
    uint64_t offset, left[PROTO_FDS_MAX];
};

struct mli_client {
    int socket; /* descriptor of the socket; -1: the connection is lost */
    bool inlined;
    pid_t child; /* process of the command; 0: no command */
    char path[SOCKET_PATH_MAX];
    int interrupt, timeout_ms;
    struct frame in;
    struct out out;
    struct payload payload;
    struct table table;
    struct jsonw params; /* params of the current request; the memory is reused */
    mli_client_error lost;
    unsigned depth; /* number of nested callbacks that are running */
    bool greeted;
    struct hello hello;
    mli_client_event_fn *on_event;
    void *event_user;
    mli_client_notify_fn *on_notify;
    void *notify_user;
};

/** Returns the milliseconds of the monotonic clock. */
int64_t clock_ms(void);
/** Returns the time `timeout_ms` from now, or -1 for never if `timeout_ms` is negative. */
int64_t clock_deadline(int timeout_ms);

/** Shuts the socket down after a failed send. Lines that have arrived can still be received; then
 * the connection is lost. */
void connection_hang_up(mli_client *client);

/**
 * Closes the socket and fails all waiting requests with `why`. Returns the code of the first loss.
 */
int connection_lose(mli_client *client, const mli_client_error *why);
/** Calls connection_lose() with the message "the connection to the daemon is lost: <format>". */
int connection_lost(mli_client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif /* CLIENT_CLIENT_H */
