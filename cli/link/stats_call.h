/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_STATS_CALL_H
#define CLI_STATS_CALL_H

#include "cli/link/daemon_link.h"

/** daemon.stats. Returns 0 or -1. */
int stats_call(struct client *client, struct daemon_stats *stats, struct fault *fault);

#endif /* CLI_STATS_CALL_H */
