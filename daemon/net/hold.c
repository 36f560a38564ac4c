/* SPDX-License-Identifier: BSD-3-Clause */
#include "hold.h"

#include "client.h"
#include "intake.h"
#include "state.h"

void client_hold(struct client *client)
{
    client->held = true;
    link_append(&client->service->held, &client->held_link);
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
        if (!service_has_room(service, client))
            continue;
        link_remove(l);
        client->held = false;
        client->busy = true;
        intake_lines(client);
        client->busy = false;
        client_settle(client);
    } while (l != last && (service->jobs < service->config.jobs || !service_takes_jobs(service)));
}
