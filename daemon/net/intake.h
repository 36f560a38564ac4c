/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's input: receives bytes and descriptors, and passes lines to call.c. */
#ifndef DAEMON_INTAKE_H
#define DAEMON_INTAKE_H

#include <stdbool.h>

struct chore;
struct client;

/**
 * Receives bytes and descriptors once. Returns 0 or -errno. Sets input_ended at the end of the
 * stream.
 */
int intake_receive(struct client *client);

/**
 * Handles complete lines while the client takes input and the input of this round of the loop has
 * taken less than 2 ms, but at least one line. A chore handles the other lines.
 */
void intake_lines(struct client *client);

/** Updates the count of descriptors that no line has taken. Call it after each change. */
void intake_count_fds(struct client *client);

/**
 * Returns whether the client's input waits because unfinished lines of its user hold too many
 * descriptors. Unfinished lines must still be finished in time.
 */
bool intake_is_crowded(const struct client *client);

/** Handles the lines that intake_lines() left. It is the callback of a client's chore. */
void intake_go_on(struct chore *chore);

/** Ends the client: a line was not finished in time. */
void intake_overdue(struct client *client);

#endif /* DAEMON_INTAKE_H */
