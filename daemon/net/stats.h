/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers of daemon.stats and of the metrics.
 *
 * To add a number, add it to struct daemon_stats (proto/wire/daemon_calls.h, which reads and writes
 * it), fill it in stats.c, and describe it in proto/PROTOCOL.md. For a metric, also add it to
 * proto/wire/prometheus.c and docs/operations.md.
 */
#ifndef DAEMON_STATS_H
#define DAEMON_STATS_H

#include <stdint.h>

#include "mli_mov_api.h"
#include "proto/wire/daemon_calls.h"

struct net;
struct user;

struct stats {
    uint64_t started;                                   /* start of the service, by uv_hrtime() */
    mli_mov_channel_stats before[MLI_MOV_MAX_CHANNELS]; /* counts of the channels at that time */
    /* The highest estimates that were reported, because a counter must not decrease. */
    struct channel_peak {
        uint64_t bytes, busy_ns;
    } peaks[MLI_MOV_MAX_CHANNELS];
};

/** Notes the channels' counts before the service: they are not reported. */
void stats_init(struct stats *stats);
/**
 * Fills all numbers. Lists the users and connections that `viewer` may see: a user's own, or all
 * for a user who may administer the service and for null.
 */
void stats_fill(struct daemon_stats *out, struct net *net, const struct user *viewer);

#endif /* DAEMON_STATS_H */
