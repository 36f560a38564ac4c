/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests and their handlers: each line from a client becomes one call.
 *
 * To add an RPC method, start here:
 *   1. Add the name to RPC_METHOD_TABLE as proto/wire/rpc.h describes (takes_params() in rpc.c has
 *      the methods without params). A method with params also needs functions in proto/wire that
 *      read them; a result of one or two numbers is written by the handler itself.
 *   2. Declare the handler below, and write it beside related handlers: submit.c makes jobs;
 *      call_job.c, wait.c and listing.c answer requests about jobs; the others are in
 *      call_buffer.c, call_daemon.c, drain.c and subscriptions.c.
 *   3. Add it to the table in call.c, and to hold_for_reply() there if its reply may be large or
 *      carries a descriptor.
 *   4. Describe it in proto/PROTOCOL.md, with an example (the test mlid_protocol runs it; a member
 *      whose value differs from run to run is listed at the end of PROTOCOL.md and in VARYING in
 *      tests/integration/daemon/examples.py).
 *   5. Test it in tests/unit/daemon, and add it to the lists of methods in test_memory.c there, and
 *      in test_bad_input.py and test_bad_lines.py in tests/integration/daemon.
 *
 * A handler first refuses descriptors (call_refuse_fds(): INVALID_REQUEST at /fds) and params that
 * it does not know, then does its work, then returns the proof that it has replied (answer.h).
 */
#ifndef DAEMON_CALL_H
#define DAEMON_CALL_H

#include <stddef.h>

#include "daemon/net/answer.h"
#include "proto/wire/wire_limits.h"

struct client;
struct rpc_request;

struct call {
    struct client *client;
    struct rpc_request *request;
    int fds[PROTO_FDS_MAX];
    size_t fd_count;
    struct answer answer;
};

/**
 * Handles one line: takes its descriptors from the client's frame, runs the handler of its method,
 * and makes sure that it is answered. If the request must wait, puts the line back and holds the
 * client.
 */
void call_handle(struct client *client, const char *line, size_t length);

/* The handlers of all methods. */
const struct ended *job_submit_call(struct call *call);
const struct ended *job_prepare_call(struct call *call);
const struct ended *job_start_call(struct call *call);
const struct ended *job_release_call(struct call *call);
const struct ended *job_wait_call(struct call *call);
const struct ended *job_status_call(struct call *call);
const struct ended *job_list_call(struct call *call);
const struct ended *job_cancel_call(struct call *call);
const struct ended *buffer_register_call(struct call *call);
const struct ended *buffer_alloc_call(struct call *call);
const struct ended *buffer_release_call(struct call *call);
const struct ended *buffer_list_call(struct call *call);
const struct ended *events_subscribe_call(struct call *call);
const struct ended *daemon_ping_call(struct call *call);
const struct ended *daemon_info_call(struct call *call);
const struct ended *daemon_stats_call(struct call *call);
const struct ended *daemon_drain_call(struct call *call);
const struct ended *daemon_resume_call(struct call *call);

/** Handles job.wait with `all`. */
const struct ended *wait_all(struct call *call, uint32_t timeout_ms);

/* Functions that handlers share. */

/**
 * Closes the descriptors of a successful request before its reply, so that a client that has the
 * reply knows that the service no longer holds its memfds. Memfds are closed at once, which is
 * quick because they are mapped; the reaper closes other files.
 */
void call_close_fds(struct call *call);
/** Leaves the descriptors of a refused request to the reaper. */
void call_discard_fds(struct call *call);
/** Replies with the request's fault. The reaper closes the descriptors. */
const struct ended *call_refuse(struct call *call);
/** Fills the request's fault: the method takes no descriptors. */
void call_complain_fds(struct call *call);
/** Replies with the fault that the method takes no descriptors. */
const struct ended *call_refuse_fds(struct call *call);
/**
 * Replies with a fault if descriptors or params came that the method does not take; otherwise
 * returns NULL.
 */
const struct ended *call_refuse_any(struct call *call);
/** Replies with a fault unless the user may administer the service; else returns NULL. */
const struct ended *call_refuse_user(struct call *call);

#endif /* DAEMON_CALL_H */
