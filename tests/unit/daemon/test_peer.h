/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fixture for tests of the service: a running service, a client on a raw socket, and files in
 * memory. Tests write JSON with ' instead of "; the functions of proto/ read the replies. Every
 * error in the fixture fails the test.
 */
#ifndef TEST_PEER_H
#define TEST_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/config/config.h"
#include "daemon/service.h"
#include "proto/wire/events.h"
#include "proto/wire/frame.h"
#include "proto/wire/rpc.h"
#include "tests/support/unit.h"

struct peer {
    int fd;
    struct frame in;
    bool greeted; /* true: the first line was read */
};

/**
 * Makes a peer of the socket `fd`, and takes ownership of it. The first read skips the greeting,
 * unless peer_hello() read it.
 */
void peer_init(struct peer *peer, int fd);
void peer_finish(struct peer *peer);

/** Copies a text, with " in place of every '. Returns the length. */
size_t peer_quote(const char *text, char *out, size_t size);

/** Sends bytes unchanged, with descriptors. */
void peer_send_raw(struct peer *peer, const char *bytes, size_t length, const int *fds,
                   size_t count);
/** Sends a line: `format` with " in place of every ', and a newline. */
void peer_send(struct peer *peer, const int *fds, size_t count, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/** Sends job.submit with descriptors src and dst; `job` has the members of the params. */
void peer_submit(struct peer *peer, int id, int src, int dst, const char *job);

/** Reads the greeting, which is the first line of the connection. */
struct hello peer_hello(struct peer *peer);
/** Reads the next reply or notification, after the greeting. Call rpc_reply_finish() on it. */
void peer_reply(struct peer *peer, struct rpc_reply *reply);
/** Returns the descriptor that came with the last reply. It belongs to the caller. */
int peer_fd(struct peer *peer);
/**
 * Reads the next reply, which must be an error with this code. Returns its fault (static storage).
 */
const struct fault *peer_error(struct peer *peer, int id, enum fault_code code);
/**
 * Reads the next reply, which must be a result to request `id` (-1: to any request). Returns the
 * request's id.
 */
int peer_ok(struct peer *peer, int id);
/** Reads the next reply, which must be the result of a job. Call job_result_finish() on it. */
int peer_result(struct peer *peer, int id, struct job_result *result);
/** Checks that the stream ends here. */
void peer_expect_end(struct peer *peer);
/** Sends a ping and checks that its reply comes next. */
void peer_expect_alive(struct peer *peer);
/** Calls daemon.info. */
struct daemon_info peer_info(struct peer *peer);

/* A service on its own thread, and one client. */
struct fixture {
    struct config config;
    struct service_thread *thread;
    struct peer peer;
};

/** Sets defaults for tests: no log, and long time limits. */
void fixture_config(struct config *config);
void fixture_start(struct fixture *fixture);
void fixture_stop(struct fixture *fixture);

/** Group setup: makes libuv open its permanent descriptors, so that tests can count theirs. */
int fixture_warm_up(void **state);

/** Returns a memfd with these bytes; null: with zeros. */
int memfd_with(const void *bytes, size_t size);
/** Checks that the file has exactly these bytes. */
void assert_file(int fd, const void *bytes, size_t size);
/** Returns the number of open descriptors of this process. */
int count_fds(void);

#endif /* TEST_PEER_H */
