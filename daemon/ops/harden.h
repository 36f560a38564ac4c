/* SPDX-License-Identifier: BSD-3-Clause */
/* What the process gives up for good. */
#ifndef DAEMON_HARDEN_H
#define DAEMON_HARDEN_H

#include <stdbool.h>

/**
 * No program that it runs gets more rights than it has; files are made for its user alone; and no
 * core is dumped, which would hold what clients move, nor can others of its user look into it. With
 * allow_core the last is left out. Call it after the user has changed. Returns 0 or -errno.
 */
int harden(bool allow_core);

#endif /* DAEMON_HARDEN_H */
