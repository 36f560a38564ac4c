/* SPDX-License-Identifier: BSD-3-Clause */
/* A request on its way through its handler. */
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
 * Closes the descriptors of a request that was carried out, before its answer, so that a client
 * that has the answer knows that nobody else holds its memfds. All of them are mapped: so closing a
 * memfd frees nothing and is quick. Other files are the reaper's business.
 */
void call_close_fds(struct call *call);
/** Leaves the descriptors of a request that was not carried out to the reaper. */
void call_discard_fds(struct call *call);
/** Answers with the request's fault. The reaper closes the descriptors. */
const struct ended *call_refuse(struct call *call);
/** Fills the request's fault: the method takes no descriptors, but some came. */
void call_complain_fds(struct call *call);
/** Answers with that. */
const struct ended *call_refuse_fds(struct call *call);
/** The method takes no params: returns 0, or -1 with the request's fault filled. */
int call_no_params(struct call *call);

#endif /* DAEMON_CALL_H */
