/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/hold.h"

#include "daemon/net/client.h"
#include "daemon/net/intake.h"
#include "daemon/net/net.h"

enum {
    LOOKS_MAX = 64,      /* most clients that are checked in one round of the loop */
    PAUSE_MIN_MS = 2,    /* pause of the timer for one client */
    CLIENTS_PER_MS = 16, /* clients for which the pause is one millisecond longer */
};

/*
 * The chore has nothing to do: it only makes the loop run another round, which ends with
 * held_check().
 */
static void do_nothing(struct chore *chore)
{
    (void)chore;
}

void held_init(struct held *held, uv_loop_t *loop)
{
    link_init(&held->clients);
    link_init(&held->refused);
    held->count = held->left = held->waiting = 0;
    chore_init(&held->again, do_nothing);
    uv_timer_init(loop, &held->timer); /* cannot fail */
    held->timer.data = held;
}

void held_close(struct held *held)
{
    chore_remove(&held->again);
    uv_close((uv_handle_t *)&held->timer, NULL);
}

static void flush_refused(struct held *held)
{
    struct link now = {&now, &now};

    if (!link_empty(&held->refused))
        link_replace(&held->refused, &now);
    for (int i = 0; i < LOOKS_MAX && !link_empty(&now); i++) {
        struct client *client = LINK_OWNER(now.next, struct client, refused_link);

        client_stop_retry(client);
        client_flush(client); /* calls client_retry() if the system still refuses */
    }
    while (!link_empty(&now)) { /* these clients are first the next time */
        struct link *last = now.prev;

        link_remove(last);
        link_append(held->refused.next, last);
    }
}

static void start_timer(struct held *held);

static void on_timer(uv_timer_t *timer)
{
    struct held *held = timer->data;

    flush_refused(held);
    held_check_again(held);
    if (held->waiting > 0)
        start_timer(held);
}

static void start_timer(struct held *held)
{
    uv_timer_start(&held->timer, on_timer, PAUSE_MIN_MS + held->waiting / CLIENTS_PER_MS, 0);
}

static void begin_waiting(struct held *held)
{
    held->waiting++;
    if (!uv_is_active((uv_handle_t *)&held->timer))
        start_timer(held);
}

static void end_waiting(struct held *held)
{
    if (--held->waiting == 0)
        uv_timer_stop(&held->timer);
}

void client_retry(struct client *client)
{
    struct held *held = &client->net->held;

    if (!link_empty(&client->refused_link))
        return;
    link_append(&held->refused, &client->refused_link);
    begin_waiting(held);
}

void client_stop_retry(struct client *client)
{
    if (link_empty(&client->refused_link))
        return;
    link_remove(&client->refused_link);
    end_waiting(&client->net->held);
}

void held_check_again(struct held *held)
{
    held->left = held->count;
}

void client_hold(struct client *client, enum hold why)
{
    struct held *held = &client->net->held;

    client->held = why;
    held->count++;
    link_append(&held->clients, &client->held_link);
    if (why == HOLD_DESCRIPTORS)
        begin_waiting(held);
}

void client_unhold(struct client *client)
{
    struct held *held = &client->net->held;

    if (client->held == HOLD_NONE)
        return;
    if (client->held == HOLD_DESCRIPTORS)
        end_waiting(held);
    client->held = HOLD_NONE;
    link_remove(&client->held_link);
    if (--held->count < held->left)
        held->left = held->count;
}

static bool may_go_on(struct client *client)
{
    switch (client->held) {
    case HOLD_JOBS:
        return jobs_have_room(client->net->jobs, client->session.flow);
    case HOLD_REPLIES:
        return backlog_has_room_for_jobs(client);
    case HOLD_UNREAD:
        return backlog_has_room(client);
    case HOLD_DESCRIPTORS:
        return client_has_room_for_fd(client);
    default:
        return true;
    }
}

/* Handles the lines of the first held client if its next request need not wait any longer; else
 * moves the client to the end of the list. */
static void look(struct held *held)
{
    struct client *client = LINK_OWNER(held->clients.next, struct client, held_link);

    held->left--;
    if (!may_go_on(client)) {
        link_remove(&client->held_link);
        link_append(&held->clients, &client->held_link);
        return;
    }
    client_unhold(client);
    client->busy = true;
    intake_lines(client);
    client->busy = false;
    client_settle(client);
}

void held_check(struct net *net)
{
    struct held *held = &net->held;

    for (int i = 0; i < LOOKS_MAX && held->left > 0; i++)
        look(held);
    if (held->left > 0 && !chore_queued(&held->again))
        chore_add(net->chores, &held->again);
}
