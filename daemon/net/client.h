/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client: one connection, its input and its replies.
 *
 *                 EOF, but replies are due
 *     open ----------------------------------> open, input_ended ---+ last reply is out
 *      | |  protocol error, shutdown                                |
 *      | +---------------------------> ending (flushes) ------------+--> closed --> freed
 *      |  peer gone, socket error, no memory                        |
 *      +------------------------------------------------------------+
 *
 * client_send() never closes a client: after an error it dooms the client, which the loop closes
 * later. So a handler may use its structures after it has answered.
 */
#ifndef DAEMON_CLIENT_H
#define DAEMON_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/base/chores.h"
#include "daemon/base/link.h"
#include "daemon/job/jobs.h"
#include "daemon/net/backlog.h"
#include "daemon/net/hold.h"
#include "daemon/net/net.h"
#include "daemon/net/outbox.h"
#include "daemon/net/slots.h"
#include "daemon/net/subscriptions.h"
#include "proto/wire/frame.h"

struct fault;
struct jsonw;

enum client_state { CLIENT_OPEN, CLIENT_ENDING, CLIENT_CLOSED };

struct client {
    struct net *net;
    struct link link;    /* in the list net->clients */
    struct link of_user; /* in the list user->connections */
    struct session session;
    enum slot slot;

    int fd;
    uv_poll_t poll;
    int events;       /* events that poll waits for */
    uv_timer_t timer; /* limits the time to finish a line or to flush replies; also closes a doomed
                         client */
    struct chore dropping; /* drops jobs and buffers of a client that is no longer open */
    unsigned handles; /* number of handles that are not closed yet, and of `dropping` if it must
                         finish */
    enum client_state state;
    bool doomed;      /* true: the loop closes the client next */
    bool input_ended; /* true: the peer sends nothing more */
    bool peer_shut;   /* true: poll has reported the peer's shutdown, and would report it again */
    bool congested;   /* true: too many unread bytes; the service takes no input */
    bool busy; /* true: the client's input is being handled, and client_settle() does nothing */
    enum hold held;                     /* why the client's next line must wait */
    struct link full_link;              /* in the list net->full */
    size_t counted_fds;                 /* number of descriptors counted in user->waiting_fds */
    struct link held_link, unsent_link; /* links in net->held and net->unsent */
    struct link refused_link;           /* link in net->held.refused */
    struct chore more_lines;            /* intake.c: lines that wait for their turn */
    bool listing;                       /* true: a job.list is under way (listing.c) */

    struct frame in;
    struct outbox out;
    struct backlog backlog;

    struct link pending; /* pending replies, other than those of the client's jobs (pending.h) */
    struct subscription subscription;
};

/**
 * Returns whether the user may administer the service: root, and the user that the service runs as.
 */
bool client_is_master(const struct client *client);

/** Serves a connected socket. Takes ownership, also on failure. Returns 0 or -errno. */
int client_create(struct net *net, int fd, enum slot slot);

/** Sends the greeting. */
void client_greet(struct client *client);
/** Queues a whole reply, which is sent at the end of this round. Never closes the client. */
void client_send(struct client *client, const char *bytes, size_t length);
/** Queues a whole reply as client_send() does, but without copying it. Takes the text from the
 * writer. */
void client_send_text(struct client *client, struct jsonw *w);
/** Queues an event. Returns false, and drops the event, if the client has too many unread bytes. */
bool client_send_event(struct client *client, const char *bytes, size_t length);
/** Queues a reply with a descriptor, of which it takes ownership. client_has_room_for_fd() must be
 *  true. */
void client_send_fd(struct client *client, const char *bytes, size_t length, int fd);
/** Returns false while too many replies with descriptors are unsent. */
bool client_has_room_for_fd(struct client *client);
/** Sends until the socket is full, at most 64 KiB; the next rounds send the rest. Never closes the
 * client. */
void client_flush(struct client *client);
/** Sends the replies of all clients, at the end of a round. */
void client_send_all(struct net *net);
/** Makes the loop close the client in its next round. Logs `why`, unless it is null. */
void client_doom(struct client *client, const char *why);
/** Same if the service cannot serve the client, for want of memory for example: logs an error. */
void client_abandon(struct client *client, const char *why);
/**
 * Replies with an error without id, and ends the client: the beginning of the next line cannot be
 * found.
 */
void client_stream_fault(struct client *client, const struct fault *fault);
/** Takes no more input, drops the client's jobs, and closes it when its replies are sent. */
void client_end(struct client *client);
/** Sets the events for which poll waits. Call it after every change of the client. */
void client_settle(struct client *client);

void client_drop_init(struct client *client);
/** Drops the client's jobs, prepared jobs and buffers, in slices. Running jobs keep their memory
 * until they end.
 */
void client_drop_all(struct client *client);
/** Counts down client->handles of a closed client. The last call frees the client. */
void client_release(struct client *client);

/** Returns whether lines that have arrived wait for their chore. */
bool client_is_paused(const struct client *client);
/** Returns false if the client's input must wait, or is no longer used. */
bool client_takes_input(const struct client *client);
/** Takes input again from clients in net->full, after descriptors of their users were closed. */
void client_relieve_all(struct net *net);
/** Makes the reaper close descriptors that came from the client. */
void client_close_fds(const struct client *client, const int *fds, size_t count);
/** Restarts the client's timer. For intake.c. */
void client_set_timer(struct client *client, uint32_t ms);

#endif /* DAEMON_CLIENT_H */
