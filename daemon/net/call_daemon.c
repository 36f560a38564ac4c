/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/call_daemon.h"

#include <stdlib.h>
#include <unistd.h>

#include "daemon/base/seam.h"
#include "daemon/net/call.h"
#include "daemon/net/client.h"
#include "daemon/ops/drain.h"
#include "daemon/ops/info.h"
#include "daemon/ops/stats.h"
#include "daemon/service_state.h"
#include "proto/wire/rpc.h"

/* Null: the request is as it should be, neither descriptors nor params with it. */
static const struct ended *refuse_any(struct call *call)
{
    if (call->fd_count)
        return call_refuse_fds(call);
    return call_no_params(call) < 0 ? call_refuse(call) : NULL;
}

const struct ended *daemon_ping_call(struct call *call)
{
    const struct ended *refused = refuse_any(call);

    return refused ? refused : answer_pong(&call->answer);
}

const struct ended *daemon_info_call(struct call *call)
{
    const struct ended *refused = refuse_any(call);
    struct daemon_info info;

    if (refused)
        return refused;
    info_fill(&info, call->client->service);
    return answer_info(&call->answer, &info);
}

const struct ended *daemon_stats_call(struct call *call)
{
    const struct ended *refused = refuse_any(call);
    struct daemon_stats *stats;
    struct jsonw *w;

    if (refused)
        return refused;
    stats = seam.calloc(1, sizeof *stats); /* too large for a stack */
    if (!stats) {
        fault_set(&call->request->fault, FAULT_INTERNAL, NULL, "no memory for the statistics");
        return call_refuse(call);
    }
    stats_fill(stats, call->client->service, call->client->flow->user);
    w = answer_begin(&call->answer, 0);
    if (w)
        daemon_stats_write_members(w, stats);
    free(stats);
    return answer_end(&call->answer, w);
}

/* Null: this user may drain and resume. */
static const struct ended *refuse_user(struct call *call)
{
    if (client_is_master(call->client))
        return NULL;
    fault_set(&call->request->fault, FAULT_FORBIDDEN, NULL,
              "only root and the user that the service runs as may do that");
    return call_refuse(call);
}

const struct ended *daemon_drain_call(struct call *call)
{
    const struct ended *refused = call->fd_count ? call_refuse_fds(call) : refuse_user(call);
    bool wait;

    if (refused)
        return refused;
    if (daemon_drain_read(&call->request->params, &wait) < 0)
        return call_refuse(call);
    drain_begin(call->client->service);
    return wait ? drain_wait(call) : drain_answer(call);
}

const struct ended *daemon_resume_call(struct call *call)
{
    const struct ended *refused = refuse_any(call);

    if (!refused)
        refused = refuse_user(call);
    if (refused)
        return refused;
    drain_end(call->client->service);
    return drain_answer(call);
}
