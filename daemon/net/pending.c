/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/pending.h"

#include "daemon/net/call.h"
#include "daemon/net/client.h"
#include "proto/wire/rpc.h"

int pending_check(struct call *call)
{
    uint32_t count = 0;

    for (struct link *l = call->client->pending.next; l != &call->client->pending; l = l->next)
        count++;
    if (count < PROTO_WAITS_MAX)
        return 0;
    return fault_set(
        &call->request->fault, FAULT_LIMIT, NULL,
        "this connection has %d unanswered job.wait, job.list and daemon.drain, the most "
        "allowed: wait for a reply first",
        PROTO_WAITS_MAX);
}

const struct ended *pending_add(struct pending *pending, struct call *call,
                                void (*drop)(struct pending *pending))
{
    link_append(&call->client->pending, &pending->link);
    pending->drop = drop;
    backlog_expect(call->client, pending->expected);
    return answer_defer(&call->answer, &pending->answer);
}

void pending_remove(struct pending *pending)
{
    struct client *client = pending->answer.client;

    link_remove(&pending->link);
    backlog_unexpect(client, pending->expected);
    client_settle(client);
}

void pending_drop_all(struct link *pendings)
{
    while (!link_empty(pendings)) {
        struct pending *pending = LINK_OWNER(pendings->next, struct pending, link);

        link_remove(&pending->link);
        backlog_unexpect(pending->answer.client, pending->expected);
        pending->drop(pending);
    }
}
