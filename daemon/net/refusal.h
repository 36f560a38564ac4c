/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of refused jobs. */
#ifndef DAEMON_REFUSAL_H
#define DAEMON_REFUSAL_H

struct client;
struct rpc_request;

/**
 * Adds a failed job with the name in a refused job.submit or job.start (the name of the prepared
 * job) to the history. A later "after" with this name then fails and does not find an earlier job.
 * Does nothing for other methods and for requests without a valid name.
 */
void refusal_remember(struct client *client, const struct rpc_request *request);

#endif /* DAEMON_REFUSAL_H */
