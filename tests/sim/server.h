/* SPDX-License-Identifier: BSD-3-Clause */
/* The service under test in its simulated process, and the checks of its invariants. */
#ifndef SIM_SERVER_H
#define SIM_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/config/config.h"

extern struct process server;

/** Starts the service with this configuration; its loop runs in a fiber. */
void server_begin(const struct config *config);
/** Returns true if the service listens. */
bool server_listens(void);
/** Connects a process to the service. Returns a descriptor of this process, or -errno. */
int server_connect(struct process *process);
/** Request a reconfiguration, or the shutdown. */
void server_reconfigure(const struct config *config);
void server_shutdown(void);
bool server_has_ended(void);

/** Checks the invariants that must hold at any time. */
void server_check(void);
/** Returns true if the service waits for events and holds no descriptor, mapping or job of a
 * client. */
bool server_is_idle(void);
/** Prints the descriptors, mappings, clients and jobs of the service, for a report. */
void server_describe(void);
/** Checks, after the service has ended, that no block, descriptor or mapping is left. */
void server_check_ended(void);

/** The longest turn of the loop in simulated ns, and the largest number of system calls in a turn.
 */
uint64_t server_longest_turn(void);
uint64_t server_most_calls(void);

#endif /* SIM_SERVER_H */
