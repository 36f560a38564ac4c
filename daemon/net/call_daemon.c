/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of daemon.ping, daemon.info and daemon.stats. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/base/seam.h"
#include "daemon/job/jobs.h"
#include "daemon/net/call.h"
#include "daemon/net/client.h"
#include "daemon/net/drain.h"
#include "daemon/net/net.h"
#include "daemon/net/stats.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "proto/wire/build_id.h"
#include "proto/wire/hello.h"
#include "proto/wire/rpc.h"

enum { NS_PER_MS = 1000 * 1000 };

static void info_fill(struct daemon_info *info, const struct net *net)
{
    const struct config *config = net->config;
    const struct jobs *jobs = net->jobs;

    *info = (struct daemon_info){
        .protocol = PROTO_VERSION,
        .phase = drain_phase(net->jobs),
        .pid = (uint32_t)getpid(),
        .uptime_ms = (uv_hrtime() - net->stats.started) / NS_PER_MS,
        .channels = config->channels,
        .channels_busy = channels_count(jobs->channels.busy),
        .channels_quarantined = channels_count(jobs->channels.quarantined),
        .channel_offset = config->channel_offset,
        .clients = slots_used(&net->slots),
        .clients_max = config->clients,
        .jobs_queued = jobs->count - jobs->running,
        .jobs_running = jobs->running,
        .jobs_per_client_max = config->jobs_per_client,
        .jobs_done = jobs->totals.done,
        .jobs_failed = jobs->totals.failed + jobs->totals.cancelled + jobs->totals.refused,
        .bytes_moved = jobs->totals.bytes_moved,
    };
    snprintf(info->version, sizeof info->version, "%s", mli_version());
    snprintf(info->build, sizeof info->build, "%s", build_id());
    if (jobs->board) {
        snprintf(info->profile, sizeof info->profile, "%s", jobs->board->profile.name);
        snprintf(info->profile_digest, sizeof info->profile_digest, "%s", jobs->board->digest);
    }
    snprintf(info->engine, sizeof info->engine, "%s", mli_mov_engine_name());
}

const struct ended *daemon_ping_call(struct call *call)
{
    const struct ended *refused = call_refuse_any(call);

    return refused ? refused : answer_pong(&call->answer);
}

const struct ended *daemon_info_call(struct call *call)
{
    const struct ended *refused = call_refuse_any(call);
    struct daemon_info info;

    if (refused)
        return refused;
    info_fill(&info, call->client->net);
    return answer_info(&call->answer, &info);
}

const struct ended *daemon_stats_call(struct call *call)
{
    const struct ended *refused = call_refuse_any(call);
    struct daemon_stats *stats;
    struct jsonw *w;

    if (refused)
        return refused;
    stats = seam.calloc(1, sizeof *stats); /* too large for a stack */
    if (!stats) {
        fault_set(&call->request->fault, FAULT_INTERNAL, NULL, "no memory for the statistics");
        return call_refuse(call);
    }
    stats_fill(stats, call->client->net, call->client->session.flow->user);
    w = answer_begin(&call->answer, 0);
    if (w)
        daemon_stats_write_members(w, stats);
    free(stats);
    return answer_end(&call->answer, w);
}
