/* SPDX-License-Identifier: BSD-3-Clause */
/* The service under test, in its simulated process, and the invariants that it must hold. */
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
/** Connects a process to the service. Returns a descriptor of that process, or -errno. */
int server_connect(struct process *process);
/** Requests a reconfiguration, or the shutdown. */
void server_reconfigure(const struct config *config);
void server_shutdown(void);
bool server_has_ended(void);

/** Checks what must hold at any time. */
void server_check(void);
/** Returns true if the service waits and has nothing of a client: no descriptor, mapping or job. */
bool server_is_idle(void);
/** Prints the descriptors, mappings, clients and jobs of the service, for a report. */
void server_describe(void);
/** Checks the ended service: no block, descriptor or mapping is left. */
void server_check_ended(void);

/** The longest turn of the loop, in simulated ns, and the most system calls of a turn. */
uint64_t server_longest_turn(void);
uint64_t server_most_calls(void);

#endif /* SIM_SERVER_H */
