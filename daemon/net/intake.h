/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's input: bytes and descriptors off the socket, lines to request.c. */
#ifndef DAEMON_INTAKE_H
#define DAEMON_INTAKE_H

#include <stdbool.h>

struct chore;
struct client;

/** One recvmsg. Returns 0, or -errno where the socket fails. Sets input_ended at the end. */
int intake_receive(struct client *client);

/**
 * Handles the lines that are complete, while the client takes input and the clients of this round
 * of the loop together have not taken 2 ms; at least one line. A chore handles the others.
 */
void intake_lines(struct client *client);

/** Counts the client's descriptors that no line has taken, for its user. After each change. */
void intake_count_fds(struct client *client);

/**
 * Returns whether nothing is received from the client because lines of its user hold too many
 * descriptors. A line that is begun must be finished in time nevertheless.
 */
bool intake_is_crowded(const struct client *client);

/** The chore of a client: handles the lines that intake_lines() left. */
void intake_go_on(struct chore *chore);

/** The client's timer says that a line was not finished in time. */
void intake_overdue(struct client *client);

#endif /* DAEMON_INTAKE_H */
