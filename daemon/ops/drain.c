/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/ops/drain.h"

#include <stdlib.h>

#include "daemon/base/log.h"
#include "daemon/base/seam.h"
#include "daemon/job/dispatch.h"
#include "daemon/job/watchdog.h"
#include "daemon/net/call.h"
#include "daemon/net/client.h"
#include "daemon/net/pending.h"
#include "daemon/service_state.h"
#include "proto/wire/rpc.h"

/* A daemon.drain that waits for the last job. */
struct drain {
    struct pending pending; /* first */
    struct link link;       /* in the service's drains */
};

enum service_phase drain_phase(const struct service *service)
{
    if (service_takes_jobs(service))
        return PHASE_SERVING;
    return service->jobs > 0 ? PHASE_DRAINING : PHASE_DRAINED;
}

static const struct ended *tell(struct answer *answer, const struct service *service)
{
    struct jsonw *w = answer_begin(answer, 0);

    if (w)
        jsonw_string(w, "state", service_phase_name(drain_phase(service)));
    return answer_end(answer, w);
}

const struct ended *drain_answer(struct call *call)
{
    return tell(&call->answer, call->client->service);
}

static void drop(struct pending *pending)
{
    struct drain *drain = (struct drain *)(void *)pending /* its first member */;

    link_remove(&drain->link);
    free(drain);
}

const struct ended *drain_wait(struct call *call)
{
    struct service *service = call->client->service;
    struct drain *drain;

    if (drain_phase(service) != PHASE_DRAINING)
        return drain_answer(call);
    if (pending_check(call) < 0)
        return call_refuse(call);
    drain = seam.calloc(1, sizeof *drain);
    if (!drain) {
        fault_set(&call->request->fault, FAULT_INTERNAL, NULL, "no memory to wait");
        return call_refuse(call);
    }
    link_append(&service->drains, &drain->link);
    return pending_add(&drain->pending, call, drop);
}

static void answer_all(struct service *service)
{
    for (struct link *l = service->drains.next, *next; l != &service->drains; l = next) {
        struct drain *drain = LINK_OWNER(l, struct drain, link);

        next = l->next;
        tell(&drain->pending.answer, service);
        pending_remove(&drain->pending);
        drop(&drain->pending);
    }
}

void drain_settle(struct service *service)
{
    if (service->jobs == 0)
        answer_all(service);
}

static void log_event(const char *event, const struct service *service)
{
    struct log_line line;

    if (!log_begin(&line, LOG_INFO, event))
        return;
    log_uint(&line, "jobs", service->jobs);
    log_end(&line);
}

void drain_begin(struct service *service)
{
    if (service->refusing)
        return;
    service->refusing = true;
    held_look_again(&service->held);
    log_event("draining", service);
}

void drain_end(struct service *service)
{
    watchdog_pardon(&service->watchdog);
    if (service->refusing) {
        service->refusing = false;
        held_look_again(&service->held);
        log_event("resuming", service);
        answer_all(service);
    }
    dispatch_run(service);
}
