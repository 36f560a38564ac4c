/* SPDX-License-Identifier: BSD-3-Clause */
/* What daemon.stats and the metrics tell. */
#ifndef DAEMON_STATS_H
#define DAEMON_STATS_H

#include "proto/wire/daemon_stats.h"

struct service;
struct user;

/** The service has taken its channels: what they have counted is not its doing. */
void stats_init(struct service *service);
/** Of users and connections only those of `viewer`, unless that user may look after the service;
 *  null: all. */
void stats_fill(struct daemon_stats *stats, struct service *service, const struct user *viewer);

#endif /* DAEMON_STATS_H */
