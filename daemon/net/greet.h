/* SPDX-License-Identifier: BSD-3-Clause */
/* The first line that a connection is sent. */
#ifndef DAEMON_GREET_H
#define DAEMON_GREET_H

struct client;
struct fault;

/** The greeting. */
void greet(struct client *client);
/** Says why there is no place for this connection, in place of the greeting, and closes it. */
void greet_turn_away(int fd, const struct fault *fault);

#endif /* DAEMON_GREET_H */
