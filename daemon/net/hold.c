/* SPDX-License-Identifier: BSD-3-Clause */
#include "hold.h"

#include "client.h"
#include "intake.h"
#include "state.h"

void client_hold(struct client *client, enum hold why)
{
    client->held = why;
    link_append(&client->service->held, &client->held_link);
}

static bool may_go_on(const struct client *client)
{
    switch (client->held) {
    case HOLD_JOBS:
        return service_has_room(client->service, client);
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

/* Each once at most: who still finds no room goes to the end of the line. Nobody is closed here. */
void client_let_in(struct service *service)
{
    struct link *const last = service->held.prev;
    struct link *l;

    if (link_empty(&service->held))
        return;
    do {
        struct client *client;

        l = service->held.next;
        client = LINK_OWNER(l, struct client, held_link);
        link_remove(l);
        link_append(&service->held, l);
        if (!may_go_on(client))
            continue;
        link_remove(l);
        client->held = HOLD_NONE;
        client->busy = true;
        intake_lines(client);
        client->busy = false;
        client_settle(client);
    } while (l != last);
}
