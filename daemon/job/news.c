/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/news.h"

#include "daemon/job/refs.h"
#include "daemon/job/task.h"
#include "daemon/net/client.h"
#include "daemon/ops/trace.h"
#include "daemon/service_state.h"

enum {
    NS_PER_MS = 1000 * 1000,
    PROGRESS = 1 << EVENT_PROGRESS,
    TRACED = 1 << EVENT_QUEUED | 1 << EVENT_STARTED | 1 << EVENT_DONE
};

static struct service *service_of(struct news *news)
{
    return LINK_OWNER(news, struct service, news);
}

static struct client *client_of(struct subscription *subscription)
{
    return LINK_OWNER(subscription, struct client, subscription);
}

#define EACH_SUBSCRIPTION(at, news)                                                                \
    for (struct link *at = (news)->subscriptions.next; at != &(news)->subscriptions; at = at->next)

/* Progress begins with a start: who wants the one must hear of the other. */
static void count_wanted(struct news *news)
{
    news->wanted = service_of(news)->trace ? TRACED : 0;
    EACH_SUBSCRIPTION(l, news)
    news->wanted |= LINK_OWNER(l, struct subscription, link)->events;
    if (news->wanted & PROGRESS)
        news->wanted |= 1 << EVENT_STARTED;
}

static bool concerns(const struct client *client, const struct task *task)
{
    switch (client->subscription.scope) {
    case EVENT_SCOPE_CONNECTION:
        return task->flow == client->flow;
    case EVENT_SCOPE_USER:
        return task->flow->user == client->flow->user;
    default:
        return true;
    }
}

/* The text is written anew only where it differs from the one before. */
static void tell_client(struct news *news, struct client *client, struct event *event)
{
    struct subscription *subscription = &client->subscription;
    struct jsonw *w = &news->line;

    if (w->length == 0 || event->dropped != subscription->dropped) {
        event->dropped = subscription->dropped;
        jsonw_reset(w);
        event_write_line(w, event);
    }
    if (jsonw_text(w) && client_send_event(client, w->data, w->length)) {
        subscription->dropped = 0;
        return;
    }
    subscription->dropped++;
    news->dropped++;
    if (!w->failed)
        return;
    jsonw_finish(w);
    jsonw_init(w);
}

static void fill(struct event *event, const struct task *task, enum event_kind kind,
                 const struct ending *ending)
{
    event->kind = kind;
    event->dropped = 0;
    event->time_ns = kind == EVENT_QUEUED    ? task->admitted
                     : kind == EVENT_STARTED ? task->end.started
                     : ending                ? ending->when
                                             : uv_hrtime();
    task_info(task, ending, event->time_ns, kind == EVENT_PROGRESS, &event->job);
}

/* Progress */

static void on_tick(uv_timer_t *timer);

/* Sets the timer to the first who wants to hear; no running task: it stops. */
static void arm(struct news *news)
{
    uint64_t first = UINT64_MAX, now = uv_hrtime();

    EACH_SUBSCRIPTION(l, news)
    {
        const struct subscription *subscription = LINK_OWNER(l, struct subscription, link);

        if ((subscription->events & PROGRESS) && subscription->next < first)
            first = subscription->next;
    }
    news->ticking = first != UINT64_MAX && !link_empty(&service_of(news)->running_tasks);
    if (!news->ticking) {
        uv_timer_stop(&news->timer);
        return;
    }
    uv_update_time(news->timer.loop); /* else it counts from a time long past */
    uv_timer_start(&news->timer, on_tick,
                   first > now ? (first - now + NS_PER_MS - 1) / NS_PER_MS : 0, 0);
}

/* Something has started while nothing ran, as far as the timer knows. */
static void begin_ticking(struct news *news)
{
    const uint64_t now = uv_hrtime();

    EACH_SUBSCRIPTION(l, news)
    {
        struct subscription *subscription = LINK_OWNER(l, struct subscription, link);

        subscription->next = now + subscription->interval_ns;
    }
    arm(news);
}

static void tell_progress(struct news *news, struct client *client)
{
    const struct link *running = &service_of(news)->running_tasks;
    struct event event;

    for (struct link *l = running->next; l != running; l = l->next) {
        const struct task *task = LINK_OWNER(l, struct task, place);

        if (task->ended || !concerns(client, task))
            continue;
        fill(&event, task, EVENT_PROGRESS, NULL);
        jsonw_reset(&news->line);
        tell_client(news, client, &event);
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct news *news = timer->data;
    const uint64_t now = uv_hrtime();

    EACH_SUBSCRIPTION(l, news)
    {
        struct subscription *subscription = LINK_OWNER(l, struct subscription, link);

        if (!(subscription->events & PROGRESS) || subscription->next > now)
            continue;
        subscription->next = now + subscription->interval_ns;
        tell_progress(news, client_of(subscription));
    }
    arm(news);
}

static void tell_subscribers(struct news *news, const struct link *subscribers, struct event *event)
{
    for (struct link *l = subscribers->next; l != subscribers; l = l->next) {
        struct subscription *subscription = LINK_OWNER(l, struct subscription, in_scope);

        if (subscription->events >> event->kind & 1)
            tell_client(news, client_of(subscription), event);
    }
}

/* The subscribers to the jobs of a scope of this client's. */
static struct link *subscribers_of(struct client *client, enum event_scope scope)
{
    switch (scope) {
    case EVENT_SCOPE_CONNECTION:
        return &client->flow->subscribers;
    case EVENT_SCOPE_USER:
        return &client->flow->user->subscribers;
    default:
        return &client->service->news.subscribers;
    }
}

void news_spread(struct news *news, const struct task *task, enum event_kind kind,
                 const struct ending *ending)
{
    struct event event;

    fill(&event, task, kind, ending);
    jsonw_reset(&news->line);
    tell_subscribers(news, &task->flow->subscribers, &event);
    tell_subscribers(news, &task->flow->user->subscribers, &event);
    tell_subscribers(news, &news->subscribers, &event);
    if (kind == EVENT_STARTED && (news->wanted & PROGRESS) && !news->ticking)
        begin_ticking(news);
    event.dropped = 0;
    trace_event(service_of(news)->trace, &event);
}

void subscription_init(struct subscription *subscription)
{
    *subscription = (struct subscription){.events = 0};
    link_init(&subscription->link);
    link_init(&subscription->in_scope);
}

void news_unsubscribe(struct client *client)
{
    struct news *news = &client->service->news;

    if (link_empty(&client->subscription.link))
        return;
    link_remove(&client->subscription.link);
    link_remove(&client->subscription.in_scope);
    count_wanted(news);
    arm(news);
}

void news_subscribe(struct client *client, const struct events_subscribe *call)
{
    struct subscription *subscription = &client->subscription;
    struct news *news = &client->service->news;

    news_unsubscribe(client);
    if (call->events == 0)
        return;
    subscription->events = call->events;
    subscription->scope = call->scope;
    subscription->interval_ns = (uint64_t)call->interval_ms * NS_PER_MS;
    subscription->next = uv_hrtime() + subscription->interval_ns;
    subscription->dropped = 0;
    link_append(&news->subscriptions, &subscription->link);
    link_append(subscribers_of(client, call->scope), &subscription->in_scope);
    count_wanted(news);
    arm(news);
}

void news_trace_changed(struct service *service)
{
    count_wanted(&service->news);
}

void news_init(struct news *news, uv_loop_t *loop)
{
    *news = (struct news){.wanted = 0};
    link_init(&news->subscriptions);
    link_init(&news->subscribers);
    jsonw_init(&news->line);
    uv_timer_init(loop, &news->timer); /* cannot fail */
    news->timer.data = news;
}

void news_close(struct news *news)
{
    jsonw_finish(&news->line);
    uv_close((uv_handle_t *)&news->timer, NULL);
}
