/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/intake.h"

#include <errno.h>

#include "daemon/base/log.h"
#include "daemon/base/reaper.h"
#include "daemon/net/call.h"
#include "daemon/net/client.h"
#include "daemon/net/net.h"
#include "proto/json/fault.h"
#include "proto/wire/fdpass.h"

enum { WAITING_FDS_MAX = 128 }; /* descriptors of one user that no line has taken */

static void stream_fault(struct client *client, const char *pointer, const char *text)
{
    struct fault fault;

    fault_set(&fault, FAULT_STREAM_ERROR, pointer, "%s", text);
    client_stream_fault(client, &fault);
}

bool intake_is_crowded(const struct client *client)
{
    return !link_empty(&client->full_link) && client->session.flow->user->crowded;
}

void intake_count_fds(struct client *client)
{
    struct user *user = client->session.flow->user;

    user->waiting_fds += client->in.fd_count - client->counted_fds;
    client->counted_fds = client->in.fd_count;
    if (!user->crowded || user->waiting_fds + PROTO_FDS_MAX > WAITING_FDS_MAX)
        return;
    user->crowded = false;
    uv_async_send(&client->net->relieved);
}

/* Returns why no more descriptors are taken from this user now, or NULL. */
static const char *reason_to_wait(const struct client *client)
{
    struct user *user = client->session.flow->user;

    if (reaper_full(user->uid))
        return "descriptors of this user are not closed yet";
    if (user->waiting_fds + PROTO_FDS_MAX <= WAITING_FDS_MAX)
        return NULL;
    user->crowded = true;
    return "incomplete and unhandled requests of this user hold too many file descriptors";
}

static bool must_wait(struct client *client)
{
    const char *why = reason_to_wait(client);
    struct log_line line;

    if (!why)
        return false;
    link_append(&client->net->full, &client->full_link);
    if (log_begin_rated(&line, LOG_NOTICE, "client waits for descriptors",
                        &client->session.flow->user->log_rates[LOG_KIND_STREAM])) {
        flow_log(client->session.flow, &line);
        log_text(&line, "why", why);
        log_end(&line);
    }
    return true;
}

/*
 * Takes ownership of the descriptors. Returns 0, or -1 if more descriptors wait than two messages
 * may carry.
 */
static int take_fds(struct client *client, const int *fds, size_t count)
{
    const size_t room = sizeof client->in.fds / sizeof *client->in.fds - client->in.fd_count;

    if (count <= room)
        return frame_push_fds(&client->in, fds, count);
    client_close_fds(client, fds, count);
    return -1;
}

int intake_receive(struct client *client)
{
    int fds[FD_RECV_MAX];
    size_t room, count = 0;
    char *bytes = frame_room(&client->in, &room);
    ssize_t got;

    if (must_wait(client))
        return 0;
    if (!bytes) {
        stream_fault(client, NULL, "the line is longer than a request may be (64 KiB)");
        return 0;
    }
    got = fd_recv_all(client->fd, bytes, room, fds, &count);
    if (got == -EAGAIN || got == -EWOULDBLOCK)
        return 0;
    if (got == -EMSGSIZE || count > PROTO_FDS_MAX) {
        client_close_fds(client, fds, count);
        stream_fault(client, "/fds",
                     "fds: descriptors were lost: a message carried more than 16, or the service "
                     "has too few left");
        return 0;
    }
    if (got <= 0) {
        client->input_ended = true;
        return (int)got;
    }
    if (take_fds(client, fds, count) < 0) {
        stream_fault(client, "/fds", "fds: more descriptors wait than two messages may carry");
        return 0;
    }
    intake_count_fds(client);
    frame_commit(&client->in, (size_t)got);
    return 0;
}

/* Starts the timer within which the client must finish its line, unless the service has stopped
 * reading from it. */
static void watch_line(struct client *client, bool progress)
{
    const bool begun = client->in.end > client->in.begin && !client->input_ended;
    const uint32_t ms = client->net->config->line_timeout_ms;

    if (client->state != CLIENT_OPEN || client->doomed)
        return;
    if (!begun || ms == 0 || !(client_takes_input(client) || intake_is_crowded(client)))
        uv_timer_stop(&client->timer);
    else if (progress || !uv_is_active((uv_handle_t *)&client->timer))
        client_set_timer(client, ms);
}

/* Handles lines until CHORE_TURN_NS after `began`. */
static void handle_lines(struct client *client, uint64_t began)
{
    const char *line;
    size_t length;
    bool progress = false;

    while (client_takes_input(client) && frame_next(&client->in, &line, &length)) {
        call_handle(client, line, length);
        progress = true;
        if (client_takes_input(client) && uv_hrtime() - began > CHORE_TURN_NS)
            chore_add(client->net->chores, &client->more_lines);
    }
    intake_count_fds(client);
    if (client_takes_input(client) && frame_leftover(&client->in))
        stream_fault(client, "/fds", "fds: more descriptors came than were announced");
    watch_line(client, progress);
}

void intake_lines(struct client *client)
{
    struct net *net = client->net;

    if (net->intake_began == 0)
        net->intake_began = uv_hrtime();
    handle_lines(client, net->intake_began);
}

void intake_go_on(struct chore *chore)
{
    struct client *client = LINK_OWNER(chore, struct client, more_lines);

    client->busy = true;
    handle_lines(client, uv_hrtime());
    client->busy = false;
    client_settle(client);
}

void intake_overdue(struct client *client)
{
    stream_fault(client, NULL, "the line was not finished in time");
}
