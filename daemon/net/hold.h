/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients whose next line is a job that there is no room for. */
#ifndef DAEMON_HOLD_H
#define DAEMON_HOLD_H

struct client;
struct service;

/** There is no room for the job in its next line: it goes on when there is. */
void client_hold(struct client *client);
/** The end of a round of the loop: those go on for whom there is room again. */
void client_let_in(struct service *service);

#endif /* DAEMON_HOLD_H */
