/* SPDX-License-Identifier: BSD-3-Clause */
/* What daemon.stats and the metrics tell. */
#ifndef DAEMON_STATS_H
#define DAEMON_STATS_H

#include "daemon_stats.h"

struct service;

/** The service has taken its channels: what they have counted is not its doing. */
void stats_init(struct service *service);
void stats_fill(struct daemon_stats *stats, struct service *service);

#endif /* DAEMON_STATS_H */
