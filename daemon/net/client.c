/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/client.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/reaper.h"
#include "daemon/base/seam.h"
#include "daemon/net/hold.h"
#include "daemon/net/intake.h"
#include "daemon/net/net.h"
#include "daemon/net/pending.h"
#include "proto/wire/rpc.h"

enum {
    FLUSH_MS = 5 * 1000 /* time for the last replies, if limits.line_timeout_ms is 0 */
};

static void log_at(const struct client *client, int level, enum log_kind kind, const char *event,
                   const char *why)
{
    struct log_line line;

    if (!log_begin_rated(&line, level, event, &client->session.flow->user->log_rates[kind]))
        return;
    flow_log(client->session.flow, &line);
    if (why)
        log_text(&line, "why", why);
    log_end(&line);
}

static void log_event(const struct client *client, enum log_kind kind, const char *event,
                      const char *why)
{
    log_at(client, kind == LOG_KIND_STREAM ? LOG_NOTICE : LOG_INFO, kind, event, why);
}

/* Closing */

static void client_free(struct client *client);

void client_release(struct client *client)
{
    struct net *net = client->net;

    if (--client->handles > 0)
        return;
    link_remove(&client->link);
    link_remove(&client->of_user);
    slots_give_back(&net->slots, client->slot);
    client->session.flow->user->clients--;
    client_free(client);
    net_settle(net);
}

static void on_closed(uv_handle_t *handle)
{
    client_release(handle->data);
}

void client_close_fds(const struct client *client, const int *fds, size_t count)
{
    /* An embedded service does not use the reaper: it has no other user whom a slow close could
       delay. */
    if (!client->net->config->embedded) {
        reaper_close(client->session.flow->user->uid, fds, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        seam.close(fds[i]);
}

/* Closes descriptors that no line has taken, and those of unsent replies. */
static void close_waiting_fds(struct client *client)
{
    int fds[sizeof client->in.fds / sizeof *client->in.fds];
    const size_t count = client->in.fd_count;

    if (frame_take_fds(&client->in, count, fds) == 0)
        client_close_fds(client, fds, count);
    intake_count_fds(client);
    for (size_t i = 0; i < client->out.fd_count; i++)
        client_close_fds(client, &client->out.fds[i].fd, 1);
    client->out.fd_count = 0;
}

static void client_close(struct client *client, const char *why)
{
    if (client->state == CLIENT_CLOSED)
        return;
    log_event(client, LOG_KIND_DISCONNECTED, "client disconnected", why);
    client->state = CLIENT_CLOSED;
    client->session.closing = true;
    client_unhold(client);
    client_stop_retry(client);
    link_remove(&client->unsent_link);
    link_remove(&client->full_link);
    chore_remove(&client->more_lines);
    client_drop_all(client);
    client->handles += chore_queued(&client->dropping);
    uv_close((uv_handle_t *)&client->poll, on_closed);
    uv_close((uv_handle_t *)&client->timer, on_closed);
    uv_close((uv_handle_t *)&client->backlog.timer, on_closed);
    close_waiting_fds(client);
    reaper_close_connection(client->fd);
}

static void on_timer(uv_timer_t *timer)
{
    struct client *client = timer->data;

    if (client->doomed)
        client_close(client, NULL);
    else if (client->state == CLIENT_ENDING)
        client_close(client, "does not read its replies");
    else if (client->input_ended)
        client_close(client, "does not read its last replies");
    else if (client_takes_input(client) || intake_is_crowded(client))
        intake_overdue(client);
}

void client_set_timer(struct client *client, uint32_t ms)
{
    uv_timer_start(&client->timer, on_timer, ms, 0);
}

/* Starts the timer within which the client must read some of its last replies. */
static void set_flush_timer(struct client *client)
{
    const uint32_t ms = client->net->config->line_timeout_ms;

    client_set_timer(client, ms ? ms : FLUSH_MS);
}

static void doom(struct client *client, int level, const char *why)
{
    if (client->doomed || client->state == CLIENT_CLOSED)
        return;
    if (why)
        log_at(client, level, LOG_KIND_STREAM, "client closed", why);
    client->doomed = true;
    client_set_timer(client, 0);
}

void client_doom(struct client *client, const char *why)
{
    doom(client, LOG_NOTICE, why);
}

void client_abandon(struct client *client, const char *why)
{
    doom(client, LOG_ERR, why);
}

void client_end(struct client *client)
{
    if (client->state != CLIENT_OPEN)
        return;
    client->state = CLIENT_ENDING;
    client->session.closing = true;
    link_remove(&client->full_link);
    chore_remove(&client->more_lines);
    client_drop_all(client);
    if (!client->doomed)
        set_flush_timer(client);
    client_settle(client);
}

void client_stream_fault(struct client *client, const struct fault *fault)
{
    struct answer answer;

    log_event(client, LOG_KIND_STREAM, "protocol error", fault->text);
    answer_init(&answer, client, &(struct rpc_id){.kind = RPC_ID_NULL});
    answer_fault(&answer, fault);
    client_end(client);
}

/* Callbacks of the event loop. */

static bool hung_up(int fd)
{
    struct pollfd poller = {.fd = fd};

    return poll(&poller, 1, 0) > 0 && (poller.revents & (POLLHUP | POLLERR | POLLNVAL));
}

bool client_is_paused(const struct client *client)
{
    return chore_queued(&client->more_lines);
}

bool client_takes_input(const struct client *client)
{
    return client->state == CLIENT_OPEN && !client->doomed && !client->congested && !client->held &&
           link_empty(&client->full_link) && !client->listing && !client_is_paused(client);
}

/* Returns whether all requests of the client are answered, and no more will come. */
static bool is_at_end(const struct client *client)
{
    return client->input_ended && client->session.task_count == 0 && !client->held &&
           !client_is_paused(client) && link_empty(&client->pending);
}

static bool finished(const struct client *client)
{
    if (outbox_pending(&client->out) > 0)
        return false;
    return client->state == CLIENT_ENDING || is_at_end(client);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct client *client = poll->data;
    int error = 0;

    /* A negative status is a socket error: the peer has closed the connection before it had read
     * all replies. */
    if (status < 0 || ((events & UV_DISCONNECT) && hung_up(client->fd))) {
        client_close(client, NULL);
        return;
    }
    if (events & UV_DISCONNECT)
        client->peer_shut = true;
    if (events & UV_WRITABLE)
        error = outbox_flush(&client->out, client->fd);
    if (client->out.refused)
        client_retry(client);
    backlog_count(client);
    if (client->backlog.unread < BACKLOG_LOW)
        client->congested = false;
    client->busy = true;
    intake_lines(client); /* handle lines that waited for the congestion to end */
    if (error == 0 && (events & UV_READABLE) && client_takes_input(client)) {
        error = intake_receive(client);
        intake_lines(client);
    }
    client->busy = false;
    if (error < 0)
        client_close(client, strerror(-error));
    else
        client_settle(client);
}

void client_settle(struct client *client)
{
    int events = 0;

    held_check_again(&client->net->held);
    if (client->state == CLIENT_CLOSED || client->doomed || client->busy)
        return;
    if (finished(client)) {
        client_doom(client, NULL);
        return;
    }
    backlog_watch(client);
    if (is_at_end(client) && !uv_is_active((uv_handle_t *)&client->timer))
        set_flush_timer(client);
    if (client_takes_input(client) && !client->input_ended)
        events |= UV_READABLE;
    if (outbox_pending(&client->out) > 0 && link_empty(&client->unsent_link) &&
        link_empty(&client->refused_link))
        events |= UV_WRITABLE;
    if (!client->peer_shut)
        events |= UV_DISCONNECT;
    if (events == client->events)
        return;
    client->events = events;
    if (events == 0)
        uv_poll_stop(&client->poll);
    else if (uv_poll_start(&client->poll, events, on_poll) < 0)
        client_abandon(client, "cannot be polled");
}

void client_relieve_all(struct net *net)
{
    while (!link_empty(&net->full)) {
        struct client *client = LINK_OWNER(net->full.next, struct client, full_link);

        link_remove(&client->full_link);
        if (!client_is_paused(client))
            chore_add(net->chores, &client->more_lines);
    }
}

bool client_is_master(const struct client *client)
{
    return client->session.flow->user->master;
}

/* Allocates a client; its libuv handles are not initialised yet. Returns NULL if out of memory. */
static struct client *client_new(struct net *net, int fd)
{
    struct ucred ucred = {.uid = (uid_t)-1};
    socklen_t length = sizeof ucred;
    struct client *client = seam.calloc(1, sizeof *client);

    if (!client)
        return NULL;
    client->net = net;
    client->fd = fd;
    link_init(&client->link);
    link_init(&client->of_user);
    link_init(&client->held_link);
    link_init(&client->unsent_link);
    link_init(&client->refused_link);
    link_init(&client->full_link);
    chore_init(&client->more_lines, intake_go_on);
    client_drop_init(client);
    link_init(&client->pending);
    subscription_init(&client->subscription);
    outbox_init(&client->out);
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &ucred, &length);
    if (session_init(&client->session, net->jobs, net->last_client + 1,
                     &(struct peer){.pid = ucred.pid, .uid = ucred.uid}) == 0) {
        if (frame_init(&client->in, PROTO_LINE_MAX) == 0)
            return client;
        session_finish(&client->session);
    }
    free(client);
    return NULL;
}

static void client_free(struct client *client)
{
    assert(client->backlog.expected == 0); /* the client's jobs and waits have ended */
    client->session.flow->user->reply_bytes -= client->backlog.unread;
    frame_finish(&client->in);
    outbox_finish(&client->out);
    session_finish(&client->session);
    free(client);
}

int client_create(struct net *net, int fd, enum slot slot)
{
    struct client *client = client_new(net, fd);
    int error;

    if (!client) {
        reaper_close_connection(fd);
        return -ENOMEM;
    }
    error = uv_poll_init(net->loop, &client->poll, fd); /* also makes it non-blocking */
    if (error < 0) {
        client_free(client);
        reaper_close_connection(fd);
        return error;
    }
    uv_timer_init(net->loop, &client->timer); /* cannot fail */
    uv_timer_init(net->loop, &client->backlog.timer);
    client->poll.data = client->timer.data = client->backlog.timer.data = client;
    client->handles = 3;
    link_append(&net->clients, &client->link);
    link_append(&client->session.flow->user->connections, &client->of_user);
    slots_take(&net->slots, slot);
    client->slot = slot;
    net->last_client++;
    client->session.flow->user->clients++;
    log_event(client, LOG_KIND_CONNECTED, "client connected", NULL);
    client_greet(client);
    client_settle(client);
    return 0;
}
