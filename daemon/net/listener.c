/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accepts connections, and refuses them with a reason if there is no room. limits.clients
 * connections are divided among the users:
 *
 *     +------------------------------------------------+----------+
 *     | open to every user, up to a quota or share     | reserved |
 *     +------------------------------------------------+----------+
 *                                       root and mlid's own user only,
 *                                       when the open slots are refused
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/reaper.h"
#include "daemon/base/seam.h"
#include "daemon/base/uid.h"
#include "daemon/config/identity.h"
#include "daemon/net/net.h"
#include "proto/json/fault.h"
#include "proto/json/jsonw.h"
#include "proto/wire/frame.h"
#include "proto/wire/rpc.h"

enum {
    ACCEPTS_MAX = 16, /* connections accepted in one round, before connected clients are served */
    RETRY_MS = 1000
};

static void on_poll(uv_poll_t *poll, int status, int events);

static void resume(uv_timer_t *retry)
{
    struct listener *listener = retry->data;

    uv_poll_start(&listener->poll, UV_READABLE, on_poll);
}

/* Stops polling for a while: connections in the backlog would make the loop spin. */
static void pause_accepting(struct listener *listener, const char *why)
{

    log_one_text(LOG_WARNING, "accepting pauses", "why", why);
    uv_poll_stop(&listener->poll);
    uv_timer_start(&listener->retry, resume, RETRY_MS, 0);
}

/* Sends the fault to the client, and closes the connection. */
static void refuse_connection(int fd, const struct fault *fault)
{
    struct rpc_id id = {.kind = RPC_ID_NULL};
    struct jsonw w;

    jsonw_init(&w);
    rpc_write_error(&w, &id, fault);
    const char *text = jsonw_text(&w);
    ssize_t sent = 1;
    /* If the reply cannot be sent, the client sees only that the connection is closed. */
    for (size_t done = 0; text && done < w.length && sent > 0; done += sent > 0 ? (size_t)sent : 0)
        sent = fd_send(fd, text + done, w.length - done, NULL, 0);
    jsonw_finish(&w);
    reaper_close_connection(fd);
}

static void turn_away(struct net *net, int fd, const struct fault *fault)
{
    struct log_line line;

    net->turned_away++;
    if (log_begin_rated(&line, LOG_WARNING, "client refused", &net->turned_away_rate)) {
        log_text(&line, "why", fault->text);
        log_end(&line);
    }
    refuse_connection(fd, fault);
}

/* If no descriptor is free: closes the spare descriptor, to accept and refuse a connection. */
static bool turn_away_with_reserve(struct listener *listener)
{
    struct fault fault;
    int fd;

    if (listener->reserve < 0)
        listener->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (listener->reserve < 0)
        return false;
    close(listener->reserve);
    fd = seam.accept(listener->bound.fd);
    if (fd >= 0) {
        fault_set(&fault, FAULT_LIMIT, NULL, "the service has no descriptors left");
        turn_away(listener->net, fd, &fault);
    }
    listener->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return fd >= 0;
}

enum { RESERVED_PART = 4 }; /* at most a quarter of limits.clients is reserved */

static uint32_t reserved_max(const struct config *config)
{
    const uint32_t most = config->clients / RESERVED_PART;

    return config->clients_reserved < most ? config->clients_reserved : most;
}

static int refuse_slot(const struct net *net, uid_t uid, uint32_t quota, uint32_t own,
                       struct fault *fault)
{
    const uint32_t max = net->config->clients;

    if (net->slots[SLOT_OPEN] >= max - reserved_max(net->config))
        return fault_set(fault, FAULT_LIMIT, NULL,
                         "limits.clients: the service has %" PRIu32 " of %" PRIu32
                         " connections; the rest is reserved for root and the service's user: "
                         "try again when another client has left",
                         net_clients(net), max);
    if (quota != QUOTA_SHARE)
        return fault_set(fault, FAULT_LIMIT, NULL,
                         "quotas: user %u has %" PRIu32 " connections; at most %" PRIu32
                         " are allowed; close one first",
                         (unsigned)uid, own, quota);
    return fault_set(fault, FAULT_LIMIT, NULL,
                     "limits.clients: user %u has %" PRIu32 " of %" PRIu32
                     " connections; the rest is kept for other users: close one first, or have "
                     "quotas allow this user more clients",
                     (unsigned)uid, own, max);
}

/* Chooses a slot for a new connection of a user. Returns 0, or -1 with *fault filled (LIMIT). */
static int choose_slot(const struct net *net, uid_t uid, enum slot *slot, struct fault *fault)
{
    const struct config *config = net->config;
    const uint32_t reserved = reserved_max(config), quota = config_quota(config, uid)->clients;
    const struct user *user = user_find(&net->jobs->users, uid);
    const uint32_t own = user ? user->clients : 0;

    if (quota_allows(quota, own, net->slots[SLOT_OPEN], config->clients - reserved)) {
        *slot = SLOT_OPEN;
        return 0;
    }
    if (uid_is_master(uid) && net->slots[SLOT_RESERVED] < reserved &&
        net_clients(net) < config->clients) {
        *slot = SLOT_RESERVED;
        return 0;
    }
    return refuse_slot(net, uid, quota, own, fault);
}

/* Checks that the peer may connect, and chooses a slot. Returns 0, or -1 with *fault filled. */
static int judge(const struct net *net, int fd, enum slot *slot, struct fault *fault)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t length = sizeof peer;

    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length);
    if (!access_allows(&net->config->access, peer.uid))
        return fault_set(fault, FAULT_FORBIDDEN, NULL, "access.uids: user %u is not served here",
                         (unsigned)peer.uid);
    return choose_slot(net, peer.uid, slot, fault);
}

static void welcome(struct net *net, int fd)
{
    struct fault fault;
    enum slot slot = SLOT_OPEN;
    int error;

    if (judge(net, fd, &slot, &fault) < 0) {
        turn_away(net, fd, &fault);
        return;
    }
    error = client_create(net, fd, slot);
    if (error < 0)
        log_one_text(LOG_ERR, "client not served", "error", strerror(-error));
}

/* Returns false if no more connections can be accepted now. */
static bool accept_one(struct listener *listener)
{
    int fd, error;

    /* Do not refuse the connection either: its descriptor would also wait to be closed. */
    if (reaper_overfull()) {
        pause_accepting(listener, "too many descriptors of clients wait to be closed");
        return false;
    }
    fd = seam.accept(listener->bound.fd);
    error = errno;
    if (fd >= 0) {
        welcome(listener->net, fd);
        return true;
    }
    if (error == EAGAIN || error == EWOULDBLOCK)
        return false;
    if (error == EINTR || error == ECONNABORTED || error == EPROTO)
        return true;
    if (error == EMFILE && turn_away_with_reserve(listener))
        return true;
    pause_accepting(listener, strerror(error));
    return false;
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct listener *listener = poll->data;

    (void)events;
    if (status < 0) {
        pause_accepting(listener, strerror(-status));
        return;
    }
    for (int i = 0; i < ACCEPTS_MAX && accept_one(listener); i++)
        ;
}

/* Starts serving listener->bound. */
static int start(struct listener *listener, struct net *net)
{
    int error = uv_poll_init(net->loop, &listener->poll, listener->bound.fd);
    if (error < 0) {
        bind_release(&listener->bound);
        return error;
    }
    uv_timer_init(net->loop, &listener->retry); /* cannot fail */
    listener->net = net;
    listener->poll.data = listener->retry.data = listener;
    listener->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
    listener->open = true;
    error = uv_poll_start(&listener->poll, UV_READABLE, on_poll);
    if (error < 0)
        listener_close(listener);
    return error;
}

int listener_open(struct listener *listener, struct net *net)
{
    const struct config *config = net->config;
    uid_t uid;
    gid_t gid;
    int error = identity_of_sockets(config, &uid, &gid);

    if (error == 0)
        error = bind_path(&listener->bound, config->socket, config->socket_mode, uid, gid);
    return error < 0 ? error : start(listener, net);
}

int listener_adopt(struct listener *listener, struct net *net, int socket)
{
    bind_adopt(&listener->bound, socket);
    return start(listener, net);
}

void listener_close(struct listener *listener)
{
    if (!listener->open)
        return;
    listener->open = false;
    uv_close((uv_handle_t *)&listener->poll, NULL);
    uv_close((uv_handle_t *)&listener->retry, NULL);
    bind_release(&listener->bound);
    if (listener->reserve >= 0)
        close(listener->reserve);
}
