/* SPDX-License-Identifier: BSD-3-Clause */
/* What a shutdown takes away from whom. */
#ifndef DAEMON_DROPPED_H
#define DAEMON_DROPPED_H

#include <stdbool.h>

struct service;

/** Logs a line for each connection that loses jobs: those that do not run yet, or all. Before they
 *  are ended. */
void dropped_log(const struct service *service, bool running_too);

#endif /* DAEMON_DROPPED_H */
