/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/drain.h"

#include <stdlib.h>

#include "daemon/base/log.h"
#include "daemon/base/seam.h"
#include "daemon/job/dispatch.h"
#include "daemon/job/jobs.h"
#include "daemon/job/watchdog.h"
#include "daemon/net/call.h"
#include "daemon/net/client.h"
#include "daemon/net/net.h"
#include "daemon/net/pending.h"
#include "proto/wire/rpc.h"

/* A daemon.drain that waits for the last job. */
struct drain {
    struct pending pending; /* first */
    struct link link;       /* in the list net->drains */
};

enum service_phase drain_phase(const struct jobs *jobs)
{
    if (jobs_are_taken(jobs))
        return PHASE_SERVING;
    return jobs->count > 0 ? PHASE_DRAINING : PHASE_DRAINED;
}

static const struct ended *answer_phase(struct answer *answer, const struct jobs *jobs)
{
    struct jsonw *w = answer_begin(answer, 0);

    if (w)
        jsonw_string(w, "state", service_phase_name(drain_phase(jobs)));
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

    if (drain_phase(net->jobs) != PHASE_DRAINING)
        return answer_phase(&call->answer, net->jobs);
    if (pending_check(call) < 0)
        return call_refuse(call);
    drain = seam.calloc(1, sizeof *drain);
    if (!drain) {
        fault_set(&call->request->fault, FAULT_INTERNAL, NULL, "no memory to wait");
        return call_refuse(call);
    }
    link_append(&net->drains, &drain->link);
    return pending_add(&drain->pending, call, drop);
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

static void log_event(const char *event, const struct jobs *jobs)
{
    struct log_line line;

    if (!log_begin(&line, LOG_INFO, event))
        return;
    log_uint(&line, "jobs", jobs->count);
    log_end(&line);
}

static void begin(struct net *net)
{
    if (net->jobs->draining)
        return;
    net->jobs->draining = true;
    held_check_again(&net->held);
    log_event("draining", net->jobs);
}

const struct ended *daemon_drain_call(struct call *call)
{
    const struct ended *refused = call->fd_count ? call_refuse_fds(call) : call_refuse_user(call);
    struct net *net = call->client->net;
    bool wait;

    if (refused)
        return refused;
    if (daemon_drain_read(&call->request->params, &wait) < 0)
        return call_refuse(call);
    begin(net);
    return wait ? answer_when_drained(call) : answer_phase(&call->answer, net->jobs);
}

/* Takes jobs again. Answers the drains that still wait. */
static void end(struct net *net)
{
    struct jobs *jobs = net->jobs;

    watchdog_pardon(&jobs->watchdog);
    if (jobs->draining) {
        jobs->draining = false;
        held_check_again(&net->held);
        log_event("resuming", jobs);
        answer_all(net);
    }
    dispatch_run(jobs);
}

const struct ended *daemon_resume_call(struct call *call)
{
    const struct ended *refused = call_refuse_any(call);

    if (!refused)
        refused = call_refuse_user(call);
    if (refused)
        return refused;
    end(call->client->net);
    return answer_phase(&call->answer, call->client->net->jobs);
}
