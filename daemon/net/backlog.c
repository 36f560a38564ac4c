/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/backlog.h"

#include "daemon/net/client.h"
#include "daemon/net/net.h"

/* The longest numbers of an index with commas: "-32768,", "-32768,", "-128,". */
enum { BYTES_OF_INDEX = 7 + 7 + 5 };

uint64_t backlog_of_result(uint64_t count)
{
    return count > 1 ? count * BYTES_OF_INDEX : 0;
}

void backlog_count(struct client *client)
{
    const uint64_t unread = outbox_pending(&client->out);

    client->session.flow->user->reply_bytes +=
        unread - client->backlog.unread; /* the difference may be negative: modulo 2^64 */
    client->backlog.unread = unread;
}

void backlog_expect(struct client *client, uint64_t bytes)
{
    client->backlog.expected += bytes;
    client->session.flow->user->reply_bytes += bytes;
}

void backlog_unexpect(struct client *client, uint64_t bytes)
{
    client->backlog.expected -= bytes;
    client->session.flow->user->reply_bytes -= bytes;
}

static bool user_is_over(const struct client *client)
{
    const struct user *user = client->session.flow->user;

    return user->reply_bytes > config_quota(client->net->config, user->uid)->reply_bytes;
}

bool backlog_has_room(const struct client *client)
{
    return client->backlog.unread == 0 || !user_is_over(client);
}

bool backlog_has_room_for_jobs(const struct client *client)
{
    const uint64_t bytes = client->backlog.unread + client->backlog.expected;

    return bytes == 0 || (bytes <= BACKLOG_EXPECTED && !user_is_over(client));
}

/* Returns whether requests wait until this client reads. */
static bool is_awaited(const struct client *client)
{
    if (client->state != CLIENT_OPEN)
        return false;
    if (client->held == HOLD_DESCRIPTORS)
        return true;
    return client->backlog.unread > 0 &&
           (client->congested || client->held == HOLD_REPLIES || client->held == HOLD_UNREAD);
}

static void on_timer(uv_timer_t *timer)
{
    struct client *client = timer->data;

    if (is_awaited(client) && client->out.sent == client->backlog.sent)
        client_doom(client, "has not read its replies for limits.reply_timeout_ms");
    else
        backlog_watch(client);
}

void backlog_watch(struct client *client)
{
    const uint32_t ms = client->net->config->reply_timeout_ms;
    uv_timer_t *timer = &client->backlog.timer;

    if (ms == 0 || !is_awaited(client)) {
        uv_timer_stop(timer);
    } else if (!uv_is_active((uv_handle_t *)timer)) {
        client->backlog.sent = client->out.sent;
        uv_timer_start(timer, on_timer, ms, 0);
    }
}
