/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tests of the service need: a client on a raw socket, a service to talk to, and files in
 * memory. JSON is written with ' for " and read back by proto/. Whatever
 * goes wrong in here fails the test.
 */
#ifndef TEST_PEER_H
#define TEST_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/config/config.h"
#include "daemon/service.h"
#include "proto/wire/frame.h"
#include "proto/wire/hello.h"
#include "proto/wire/rpc.h"
#include "tests/support/unit.h"

struct peer {
    int fd;
    struct frame in;
    bool greeted; /* its first line has come */
};

/** Speaks on `fd`, which it closes in the end. The greeting is skipped, unless peer_hello() asks
 *  for it. */
void peer_init(struct peer *peer, int fd);
void peer_finish(struct peer *peer);

/** Copies text with every ' turned into ". Returns the length. */
size_t peer_quote(const char *text, char *out, size_t size);

/** Sends bytes as they are, with descriptors. */
void peer_send_raw(struct peer *peer, const char *bytes, size_t length, const int *fds,
                   size_t count);
/** Sends a line: `format` with every ' turned into ", and a newline. */
void peer_send(struct peer *peer, const int *fds, size_t count, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/** Sends job.submit with descriptors src and dst; `job` is what stands inside the params. */
void peer_submit(struct peer *peer, int id, int src, int dst, const char *job);

/** The greeting, the connection's first line. */
struct hello peer_hello(struct peer *peer);
/** The next reply, or notification but for the greeting; rpc_reply_finish() it. */
void peer_reply(struct peer *peer, struct rpc_reply *reply);
/** The descriptor that came with the last reply; the caller's from now on. */
int peer_fd(struct peer *peer);
/** The next reply is an error with this code; its fault is returned (static storage). */
const struct fault *peer_error(struct peer *peer, int id, enum fault_code code);
/** The next reply is a result to `id` (-1: any). Returns the id. */
int peer_ok(struct peer *peer, int id);
/** The same for a job's result; job_result_finish() it. */
int peer_result(struct peer *peer, int id, struct job_result *result);
/** The connection ends here. */
void peer_expect_end(struct peer *peer);
/** The connection lives: a ping is answered. */
void peer_expect_alive(struct peer *peer);
/** daemon.info, asked for on this connection. */
struct daemon_info peer_info(struct peer *peer);

/* A service on its own thread, and one client. */
struct fixture {
    struct config config;
    struct service_thread *thread;
    struct peer peer;
};

/** Defaults for tests: silent, and in no hurry. */
void fixture_config(struct config *config);
void fixture_start(struct fixture *fixture);
void fixture_stop(struct fixture *fixture);

/** Group setup: makes libuv open what it keeps for the process, so that descriptors can be counted.
 */
int fixture_warm_up(void **state);

/** A memfd with these bytes; `bytes` may be null for zeros. */
int memfd_with(const void *bytes, size_t size);
/** The file holds exactly these bytes. */
void assert_file(int fd, const void *bytes, size_t size);
/** Open descriptors of this process. */
int count_fds(void);

#endif /* TEST_PEER_H */
