/* SPDX-License-Identifier: BSD-3-Clause */
/* events.subscribe: sends the events of jobs to the clients that subscribed to them. */
#include "daemon/net/net.h"

enum { NS_PER_MS = 1000 * 1000, PROGRESS = 1 << EVENT_PROGRESS };

static struct jobs *jobs_of(struct subscriptions *all)
{
    return LINK_OWNER(all, struct net, subscriptions)->jobs;
}

static struct client *client_of(struct subscription *subscription)
{
    return LINK_OWNER(subscription, struct client, subscription);
}

#define EACH_SUBSCRIPTION(at, all)                                                                 \
    for (struct link *at = (all)->list.next; at != &(all)->list; at = at->next)

/* Subscribes to the kinds of daemon/job's events that subscribers want. Reports of progress begin
 * when the event STARTED is sent, so they also need that event. */
static void count_wanted(struct subscriptions *all)
{
    uint32_t wanted = 0;

    EACH_SUBSCRIPTION(l, all)
    wanted |= LINK_OWNER(l, struct subscription, link)->events;
    if (wanted & PROGRESS)
        wanted |= 1 << EVENT_STARTED;
    events_subscribe(&jobs_of(all)->events, wanted);
}

static bool concerns(const struct client *client, const struct task *task)
{
    switch (client->subscription.scope) {
    case EVENT_SCOPE_CONNECTION:
        return task->flow == client->session.flow;
    case EVENT_SCOPE_USER:
        return task->flow->user == client->session.flow->user;
    default:
        return true;
    }
}

/* Sends the event. Writes its line only if it differs from the previous subscriber's line. */
static void send_to(struct subscriptions *all, struct client *client, struct event *event)
{
    struct subscription *subscription = &client->subscription;
    struct jsonw *w = &all->line;

    if (w->length == 0 || event->dropped != subscription->dropped) {
        event->dropped = subscription->dropped;
        jsonw_reset(w);
        event_write_line(w, event);
    }
    if (jsonw_text(w) && client_send_event(client, w)) {
        subscription->dropped = 0;
        return;
    }
    subscription->dropped++;
    all->dropped++;
    if (!w->failed)
        return;
    jsonw_finish(w);
    jsonw_init(w);
}

/* Progress events. */

static void on_tick(uv_timer_t *timer);

/* Sets the timer for the next progress event of a subscriber. Stops it if no task is running. */
static void arm(struct subscriptions *all)
{
    uint64_t first = UINT64_MAX, now = uv_hrtime();

    EACH_SUBSCRIPTION(l, all)
    {
        const struct subscription *subscription = LINK_OWNER(l, struct subscription, link);

        if ((subscription->events & PROGRESS) && subscription->next < first)
            first = subscription->next;
    }
    all->ticking = first != UINT64_MAX && !link_empty(&jobs_of(all)->running_tasks);
    if (!all->ticking) {
        uv_timer_stop(&all->timer);
        return;
    }
    uv_update_time(all->timer.loop); /* the timer counts from the loop's time, which may be old */
    uv_timer_start(&all->timer, on_tick,
                   first > now ? (first - now + NS_PER_MS - 1) / NS_PER_MS : 0, 0);
}

/* Starts the timer, because a transfer was started while the timer was stopped. */
static void begin_ticking(struct subscriptions *all)
{
    const uint64_t now = uv_hrtime();

    EACH_SUBSCRIPTION(l, all)
    {
        struct subscription *subscription = LINK_OWNER(l, struct subscription, link);

        subscription->next = now + subscription->interval_ns;
    }
    arm(all);
}

static void send_progress(struct subscriptions *all, struct client *client)
{
    const struct link *running = &jobs_of(all)->running_tasks;
    struct event event;

    for (struct link *l = running->next; l != running; l = l->next) {
        const struct task *task = LINK_OWNER(l, struct task, place);

        if (task->ended || !concerns(client, task))
            continue;
        events_fill(&event, task, EVENT_PROGRESS, NULL);
        jsonw_reset(&all->line);
        send_to(all, client, &event);
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct subscriptions *all = timer->data;
    const uint64_t now = uv_hrtime();

    EACH_SUBSCRIPTION(l, all)
    {
        struct subscription *subscription = LINK_OWNER(l, struct subscription, link);

        if (!(subscription->events & PROGRESS) || subscription->next > now)
            continue;
        subscription->next = now + subscription->interval_ns;
        send_progress(all, client_of(subscription));
    }
    arm(all);
}

static void send_to_all(struct subscriptions *all, const struct link *subscribers,
                        struct event *event)
{
    for (struct link *l = subscribers->next; l != subscribers; l = l->next) {
        struct subscription *subscription = LINK_OWNER(l, struct subscription, in_scope);

        if (subscription->events >> event->kind & 1)
            send_to(all, client_of(subscription), event);
    }
}

/* Returns the list of subscribers with this scope: to the client's flow, its user, or all users. */
static struct link *subscribers_of(struct client *client, enum event_scope scope)
{
    switch (scope) {
    case EVENT_SCOPE_CONNECTION:
        return &client->session.flow->subscribers;
    case EVENT_SCOPE_USER:
        return &client->session.flow->user->subscribers;
    default:
        return &client->net->subscriptions.subscribers;
    }
}

void subscriptions_spread(struct net *net, const struct task *task, struct event *event)
{
    struct subscriptions *all = &net->subscriptions;

    jsonw_reset(&all->line);
    send_to_all(all, &task->flow->subscribers, event);
    send_to_all(all, &task->flow->user->subscribers, event);
    send_to_all(all, &all->subscribers, event);
    if (event->kind == EVENT_STARTED && (jobs_of(all)->events.subscribed & PROGRESS) &&
        !all->ticking)
        begin_ticking(all);
}

void subscriptions_remove(struct client *client)
{
    struct subscriptions *all = &client->net->subscriptions;

    if (link_empty(&client->subscription.link))
        return;
    link_remove(&client->subscription.link);
    link_remove(&client->subscription.in_scope);
    count_wanted(all);
    arm(all);
}

static void subscribe(struct client *client, const struct events_subscribe *call)
{
    struct subscription *subscription = &client->subscription;
    struct subscriptions *all = &client->net->subscriptions;

    subscriptions_remove(client);
    if (call->events == 0)
        return;
    subscription->events = call->events;
    subscription->scope = call->scope;
    subscription->interval_ns = (uint64_t)call->interval_ms * NS_PER_MS;
    subscription->next = uv_hrtime() + subscription->interval_ns;
    subscription->dropped = 0;
    link_append(&all->list, &subscription->link);
    link_append(subscribers_of(client, call->scope), &subscription->in_scope);
    count_wanted(all);
    arm(all);
}

void subscriptions_init(struct subscriptions *all, uv_loop_t *loop)
{
    *all = (struct subscriptions){.dropped = 0};
    link_init(&all->list);
    link_init(&all->subscribers);
    jsonw_init(&all->line);
    uv_timer_init(loop, &all->timer); /* cannot fail */
    all->timer.data = all;
}

void subscriptions_close(struct subscriptions *all)
{
    jsonw_finish(&all->line);
    uv_close((uv_handle_t *)&all->timer, NULL);
}

const struct ended *events_subscribe_call(struct call *call)
{
    struct rpc_request *request = call->request;
    struct events_subscribe params;
    struct jsonw *w;

    if (events_subscribe_read(&request->params, &params) < 0)
        return call_refuse(call);
    if (params.scope == EVENT_SCOPE_ALL && !client_is_master(call->client)) {
        fault_set(&request->fault, FAULT_FORBIDDEN, "/scope",
                  "scope: \"all\" is for root and the user that the service runs as");
        return call_refuse(call);
    }
    subscribe(call->client, &params);
    w = answer_begin(&call->answer, 0);
    if (w)
        events_write(w, "events", params.events);
    return answer_end(&call->answer, w);
}
