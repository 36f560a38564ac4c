/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/call_events.h"

#include "daemon/job/news.h"
#include "daemon/net/call.h"
#include "daemon/net/client.h"
#include "proto/wire/events.h"
#include "proto/wire/rpc.h"

const struct ended *events_subscribe_call(struct call *call)
{
    struct rpc_request *request = call->request;
    struct events_subscribe params;
    struct jsonw *w;

    if (call->fd_count)
        return call_refuse_fds(call);
    if (events_subscribe_read(&request->params, &params) < 0)
        return call_refuse(call);
    if (params.scope == EVENT_SCOPE_ALL && !client_is_master(call->client)) {
        fault_set(&request->fault, FAULT_FORBIDDEN, "/scope",
                  "scope: \"all\" is for root and the user that the service runs as");
        return call_refuse(call);
    }
    news_subscribe(call->client, &params);
    w = answer_begin(&call->answer, 0);
    if (w)
        events_write(w, "events", params.events);
    return answer_end(&call->answer, w);
}
