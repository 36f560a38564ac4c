/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handlers of the methods daemon.*. After daemon.drain the service takes no jobs, but continues to
 * run, until daemon.resume.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/seam.h"
#include "daemon/net/net.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "proto/wire/build_id.h"
#include "proto/wire/events.h"

enum { NS_PER_MS = 1000 * 1000 };

static void info_fill(struct daemon_info *info, const struct net *net)
{
    const struct config *config = net->config;
    const struct jobs *jobs = net->jobs;

    *info = (struct daemon_info){
        .protocol = PROTO_VERSION,
        .phase = jobs_phase(jobs),
        .pid = (uint32_t)getpid(),
        .uptime_ms = (uv_hrtime() - net->stats.started) / NS_PER_MS,
        .channels = config->channels,
        .channels_busy = channels_count(jobs->channels.busy),
        .channels_quarantined = channels_count(jobs->channels.quarantined),
        .channel_offset = config->channel_offset,
        .clients = net_clients(net),
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
    struct jsonw *w = answer_begin(&call->answer, 0);

    if (w)
        jsonw_bool(w, "pong", true);
    return answer_end(&call->answer, w);
}

const struct ended *daemon_info_call(struct call *call)
{
    struct daemon_info info;

    info_fill(&info, call->client->net);
    return answer_info(&call->answer, &info);
}

const struct ended *daemon_stats_call(struct call *call)
{
    struct daemon_stats *stats;
    struct jsonw *w;

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

/* Draining. */

/* A daemon.drain that waits for the last job. */
struct drain {
    struct pending pending; /* first */
    struct link link;       /* link in the list net->drains */
};

static const struct ended *answer_phase(struct answer *answer, const struct jobs *jobs)
{
    struct jsonw *w = answer_begin(answer, 0);

    if (w)
        jsonw_string(w, "state", service_phase_name(jobs_phase(jobs)));
    return answer_end(answer, w);
}

static void drop(struct pending *pending)
{
    struct drain *drain = (struct drain *)(void *)pending /* first member of struct drain */;

    link_remove(&drain->link);
    free(drain);
}

static const struct ended *answer_when_drained(struct call *call)
{
    struct net *net = call->client->net;
    struct drain *drain;

    if (jobs_phase(net->jobs) != PHASE_DRAINING)
        return answer_phase(&call->answer, net->jobs);
    if (pending_check(call) < 0)
        return call_refuse(call);
    drain = seam.calloc(1, sizeof *drain);
    if (!drain) {
        fault_set(&call->request->fault, FAULT_INTERNAL, NULL, "no memory to wait");
        return call_refuse(call);
    }
    link_append(&net->drains, &drain->link);
    return pending_add(&drain->pending, call, 0, drop);
}

static void answer_all(struct net *net)
{
    for (struct link *l = net->drains.next, *next; l != &net->drains; l = next) {
        struct drain *drain = LINK_OWNER(l, struct drain, link);

        next = l->next;
        answer_phase(&drain->pending.answer, net->jobs);
        pending_remove(&drain->pending);
        drop(&drain->pending);
    }
}

void drain_settle(struct net *net)
{
    if (net->jobs->count == 0)
        answer_all(net);
}

static void begin(struct net *net)
{
    if (net->jobs->draining)
        return;
    net->jobs->draining = true;
    held_check_again(&net->held);
    log_one_uint(LOG_INFO, "draining", "jobs", net->jobs->count);
}

const struct ended *daemon_drain_call(struct call *call)
{
    const struct ended *refused = call_refuse_user(call);
    struct net *net = call->client->net;
    bool wait;

    if (refused)
        return refused;
    if (daemon_drain_read(&call->request->params, &wait) < 0)
        return call_refuse(call);
    begin(net);
    return wait ? answer_when_drained(call) : answer_phase(&call->answer, net->jobs);
}

/* Accepts jobs again. Replies to the pending daemon.drain requests. */
static void end(struct net *net)
{
    struct jobs *jobs = net->jobs;

    dispatch_pardon(jobs);
    if (jobs->draining) {
        jobs->draining = false;
        held_check_again(&net->held);
        log_one_uint(LOG_INFO, "resuming", "jobs", jobs->count);
        answer_all(net);
    }
    dispatch_run(jobs);
}

const struct ended *daemon_resume_call(struct call *call)
{
    const struct ended *refused = call_refuse_user(call);

    if (refused)
        return refused;
    end(call->client->net);
    return answer_phase(&call->answer, call->client->net->jobs);
}
