/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends the greeting, replies and events. */
#include "daemon/net/client.h"

#include <stdio.h>
#include <string.h>

#include "daemon/net/net.h"
#include "mli_helpers_api.h"
#include "proto/json/jsonw.h"
#include "proto/wire/hello.h"

void client_flush(struct client *client)
{
    int error;

    link_remove(&client->unsent_link);
    if (client->doomed || client->state == CLIENT_CLOSED)
        return;
    error = outbox_flush(&client->out, client->fd);
    backlog_count(client);
    if (client->out.refused)
        client_retry(client);
    else
        client_stop_retry(client);
    if (error < 0)
        client_doom(client, strerror(-error));
    else if (client->backlog.unread > BACKLOG_UNREAD_MAX)
        client_doom(client, "does not read its replies");
    client->congested = client->backlog.unread > BACKLOG_HIGH;
    client_settle(client);
}

/* Sends what was appended to the outbox, at the end of the round or earlier. */
static void appended(struct client *client)
{
    if (link_empty(&client->unsent_link) && !(client->events & UV_WRITABLE))
        link_append(&client->net->unsent, &client->unsent_link);
    backlog_count(client);
    if (client->backlog.unread > BACKLOG_LOW)
        client_flush(client);
}

static bool is_silent(const struct client *client)
{
    return client->doomed || client->state == CLIENT_CLOSED;
}

void client_send(struct client *client, const char *bytes, size_t length)
{
    if (is_silent(client))
        return;
    if (outbox_append(&client->out, bytes, length) < 0)
        client_abandon(client, "no memory for a reply");
    else
        appended(client);
}

void client_send_text(struct client *client, struct jsonw *w)
{
    if (is_silent(client))
        return;
    if (outbox_adopt(&client->out, w->data, w->length) < 0) {
        client_abandon(client, "no memory for a reply");
        return;
    }
    jsonw_init(w); /* the outbox has the text */
    appended(client);
}

bool client_send_event(struct client *client, const char *bytes, size_t length)
{
    if (client->doomed || client->backlog.unread + length > BACKLOG_HIGH ||
        !backlog_has_room(client))
        return false;
    client_send(client, bytes, length);
    return true;
}

void client_send_fd(struct client *client, const char *bytes, size_t length, int fd)
{
    if (is_silent(client)) {
        client_close_fds(client, &fd, 1);
        return;
    }
    outbox_attach(&client->out, fd);
    client_send(client, bytes, length);
}

bool client_has_room_for_fd(struct client *client)
{
    return outbox_has_room_for_fd(&client->out, client->fd);
}

void client_send_all(struct net *net)
{
    while (!link_empty(&net->unsent))
        client_flush(LINK_OWNER(net->unsent.next, struct client, unsent_link));
}

void client_greet(struct client *client)
{
    const struct config *config = client->net->config;
    struct hello hello = {
        .client = client->session.flow->number,
        .jobs = config->jobs_per_client,
        .job_bytes = config->job_bytes,
        .buffers = config->buffers_per_client,
        .buffer_bytes = config->buffer_bytes_per_client,
        .prepared = config->prepared_per_client,
    };
    struct jsonw w;

    snprintf(hello.version, sizeof hello.version, "%s", mli_version());
    jsonw_init(&w);
    hello_write_line(&w, &hello);
    if (jsonw_text(&w))
        client_send(client, w.data, w.length);
    else
        client_abandon(client, "no memory for the greeting");
    jsonw_finish(&w);
}
