/* SPDX-License-Identifier: BSD-3-Clause */
/* Log lines of refused requests, and records of refused jobs. */
#ifndef DAEMON_REFUSAL_H
#define DAEMON_REFUSAL_H

struct client;
struct fault;
struct rpc_request;

/** Logs `event` with the client and the fault of its refused request. */
void refusal_log(const struct client *client, const char *event, const struct fault *fault);

/**
 * Adds a failed job with the name in a refused job.submit or job.start (the name of the prepared
 * job) to the history. A later "after" with this name then fails and does not find an earlier job.
 * Does nothing for other methods and for requests without a valid name.
 */
void refusal_remember(struct client *client, const struct rpc_request *request);

#endif /* DAEMON_REFUSAL_H */
