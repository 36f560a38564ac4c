/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/net.h"

/*
 * Sends the replies of a round together. Before that, handles the held requests that now have
 * space, so that their replies are sent too.
 */
static void on_round(uv_prepare_t *round)
{
    struct net *net = round->data;

    net->intake_began = 0;
    held_check(net);
    net->intake_began = 0; /* all input is handled: the loop may sleep */
    client_send_all(net);
}

static void on_relieved(uv_async_t *relieved)
{
    client_relieve_all(relieved->data);
}

void net_relieve(void *net)
{
    uv_async_send(&((struct net *)net)->relieved);
}

static void on_job_gone(void *context, struct session *session)
{
    struct net *net = context;

    held_check_again(&net->held);
    if (session)
        client_settle(LINK_OWNER(session, struct client, session));
    net_settle(net);
}

static void on_event(void *context, const struct task *task, struct event *event)
{
    subscriptions_spread(context, task, event);
}

static void init_handles(struct net *net)
{
    /* Cannot fail, because the loop has its eventfd. */
    uv_async_init(net->loop, &net->relieved, on_relieved);
    net->relieved.data = net;
    uv_unref((uv_handle_t *)&net->relieved);
    uv_prepare_init(net->loop, &net->round); /* cannot fail */
    net->round.data = net;
    uv_prepare_start(&net->round, on_round);
    uv_unref((uv_handle_t *)&net->round);
}

/* Ends the first client and moves it to the end of the list. Returns false if no client is left. */
static bool end_first_client(struct net *net)
{
    struct link *first = net->clients.next;

    if (net->clients_to_end == 0 || link_empty(&net->clients))
        return false;
    net->clients_to_end--;
    link_remove(first);
    link_append(&net->clients, first);
    client_end(LINK_OWNER(first, struct client, link));
    return true;
}

static void on_ending(struct chore *chore)
{
    struct net *net = LINK_OWNER(chore, struct net, ending);
    const uint64_t begin = uv_hrtime();

    while (end_first_client(net)) {
        if (uv_hrtime() - begin < CHORE_SLICE_NS)
            continue;
        chore_add(net->chores, chore);
        return;
    }
}

void net_init(struct net *net, struct jobs *jobs, void (*settled)(void *context), void *context)
{
    net->loop = jobs->loop;
    net->config = jobs->config;
    net->chores = jobs->chores;
    net->jobs = jobs;
    net->settled = settled;
    net->context = context;
    jobs->callbacks = (struct jobs_callbacks){
        .task_size = sizeof(struct submission),
        .ended = submission_ended,
        .gone = on_job_gone,
        .event = on_event,
        .context = net,
    };
    net->handle = call_handle;
    net->unsubscribe = subscriptions_remove;
    link_init(&net->clients);
    link_init(&net->unsent);
    link_init(&net->full);
    held_init(&net->held, net->loop);
    chore_init(&net->ending, on_ending);
    link_init(&net->drains);
    stats_init(&net->stats);
    subscriptions_init(&net->subscriptions, net->loop);
    jsonw_init(&net->scratch);
    init_handles(net);
}

void net_close(struct net *net)
{
    held_close(&net->held);
    chore_remove(&net->ending);
    subscriptions_close(&net->subscriptions);
    uv_close((uv_handle_t *)&net->round, NULL);
    uv_close((uv_handle_t *)&net->relieved, NULL);
}

void net_finish(struct net *net)
{
    jsonw_finish(&net->scratch);
}

void net_end_clients(struct net *net)
{
    net->clients_to_end = net_clients(net);
    on_ending(&net->ending);
}

void net_settle(struct net *net)
{
    if (net->jobs->count == 0 && !link_empty(&net->drains))
        drain_settle(net);
    net->settled(net->context);
}
