/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/hold.h"

#include "daemon/net/client.h"
#include "daemon/net/intake.h"
#include "daemon/net/net.h"

enum { LOOKS_MAX = 64 }; /* most clients that are checked in one round of the loop */

/*
 * The chore has nothing to do: it only makes the loop run another round, which ends with
 * held_check().
 */
static void do_nothing(struct chore *chore)
{
    (void)chore;
}

void held_init(struct held *held)
{
    link_init(&held->clients);
    held->count = held->left = 0;
    chore_init(&held->again, do_nothing);
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
}

void client_unhold(struct client *client)
{
    struct held *held = &client->net->held;

    if (client->held == HOLD_NONE)
        return;
    client->held = HOLD_NONE;
    link_remove(&client->held_link);
    if (--held->count < held->left)
        held->left = held->count;
}

static bool may_go_on(const struct client *client)
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
