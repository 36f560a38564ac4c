/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection: its bytes and descriptors in, its replies out.
 *
 *                 EOF, but replies are due
 *     open ----------------------------------> open, input_ended ---+ last reply is out
 *      | |  protocol error, shutdown                                |
 *      | +---------------------------> ending (flushes) ------------+--> closed --> freed
 *      |  peer gone, socket error, no memory                        |
 *      +------------------------------------------------------------+
 *
 * client_send() never closes: what goes wrong there dooms the client, which is then closed from the
 * loop. So whoever answers need not fear for the structures he is holding.
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
struct log_line;

enum client_state { CLIENT_OPEN, CLIENT_ENDING, CLIENT_CLOSED };

struct client {
    struct net *net;
    struct link link; /* in the service's clients */
    struct session session;
    enum slot slot;

    int fd;
    uv_poll_t poll;
    int events;            /* what poll waits for */
    uv_timer_t timer;      /* a line to be finished, replies to be flushed, or doom */
    struct chore dropping; /* drops all it has, once it is not open any more */
    unsigned handles;      /* of the poll and the two timers, not closed yet */
    enum client_state state;
    bool doomed;                        /* closed as soon as the loop runs on */
    bool input_ended;                   /* the peer sends nothing more */
    bool peer_shut;                     /* poll has told so, and would go on telling */
    bool congested;                     /* too much output waits: no more input is taken */
    bool busy;                          /* in the middle of its input: not to be judged now */
    enum hold held;                     /* why its next line has to wait */
    struct link full_link;              /* in the service's full */
    size_t counted_fds;                 /* in user->waiting_fds */
    struct link held_link, unsent_link; /* in the service's held and unsent */
    struct chore more_lines;            /* intake.c: lines that wait for their turn */
    bool listing;                       /* listing.c: a job.list is under way */

    struct frame in;
    struct outbox out;
    struct backlog backlog;

    struct link pending; /* replies to come, other than those of its jobs (pending.h) */
    struct subscription subscription;
};

/** Root and the user the service runs as: they may look after it. */
bool client_is_master(const struct client *client);

/** Serves a connected socket, which it owns from now on, also on failure. 0 or -errno. */
int client_create(struct net *net, int fd, enum slot slot);

/** Sends a whole reply, with the others of this round of the loop. Never closes the client. */
void client_send(struct client *client, const char *bytes, size_t length);
/** Sends an event, unless so much waits that the client would be held up for it: false. */
bool client_send_event(struct client *client, const char *bytes, size_t length);
/** As client_send(), with a descriptor, which it owns from now on; client_has_room_for_fd() must
 * hold. */
void client_send_fd(struct client *client, const char *bytes, size_t length, int fd);
/** False while too many replies with descriptors are not sent yet. */
bool client_has_room_for_fd(const struct client *client);
/** Sends what the socket takes. Never closes the client. */
void client_flush(struct client *client);
/** The end of a round: sends what waits. */
void client_send_all(struct net *net);
/** Closes the client when the loop runs on; `why` goes to the log. */
void client_doom(struct client *client, const char *why);
/** Answers with an error without id, then ends: the stream cannot be followed any more. */
void client_stream_fault(struct client *client, const struct fault *fault);
/** Takes no more input, drops its jobs, and closes when the replies are out. */
void client_end(struct client *client);
/** A task of the client is gone, or something else that it waited for: waits for what is left. */
void client_settle(struct client *client);

void client_drop_init(struct client *client);
/** Drops what the client has, in slices of the loop's time. Jobs that run hold their memory. */
void client_drop_all(struct client *client);
/** A handle of a closed client is closed, or all it had is dropped: the last frees the client. */
void client_release(struct client *client);

/** Lines that have arrived wait for the chore that handles them. */
bool client_is_paused(const struct client *client);
/** False where its input must wait, or does not matter any more. */
bool client_takes_input(const struct client *client);
/** Takes input again from the clients that wait until their users have fewer descriptors. */
void client_relieve_all(struct net *net);
/** Has descriptors that came from the client closed by the reaper. */
void client_close_fds(const struct client *client, const int *fds, size_t count);
/** Sets the client's timer anew. For intake.c. */
void client_set_timer(struct client *client, uint32_t ms);

/** Adds who it is to a log line; a null client is one that has left. */
void client_log(struct log_line *line, const struct client *client);

#endif /* DAEMON_CLIENT_H */
