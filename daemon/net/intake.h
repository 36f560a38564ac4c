/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's input: bytes and descriptors off the socket, lines to request.c. */
#ifndef DAEMON_INTAKE_H
#define DAEMON_INTAKE_H

struct client;

/** One recvmsg. Returns 0, or -errno where the socket fails. Sets input_ended at the end. */
int intake_receive(struct client *client);

/** Handles the lines that are complete, while the client takes input. */
void intake_lines(struct client *client);

/** The client's timer says that a line was not finished in time. */
void intake_overdue(struct client *client);

#endif /* DAEMON_INTAKE_H */
