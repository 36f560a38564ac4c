/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemon/net: connections, requests in, replies and events out. It calls daemon/job, which answers
 * by the callbacks in net.c.
 *
 *     listener.c   accepts connections, or refuses them   (bind.c: the socket file)
 *     client.c     the life of a connection: bytes and descriptors --> lines; outbox.c --> socket
 *     call.c       line --> request --> handler, or the request must wait
 *     submit.c, wait.c, listing.c, call_buffer.c, call_daemon.c, subscriptions.c   the handlers
 *     replies.c    what handlers share: each request is answered exactly once
 *     net.c        puts these parts together
 *
 * A file calls only files below it: net.c, call.c, the handlers, replies.c, client.c, outbox.c.
 * client.c calls call.c and subscriptions.c by the callbacks in struct net.
 *
 * To add a number to daemon.stats, add it to struct daemon_stats (proto/wire/methods.h, which
 * reads and writes it), fill it in stats.c, and describe it in proto/PROTOCOL.md. For a metric,
 * also add it to proto/wire/prometheus.c and docs/operations.md.
 *
 * To add an RPC method, start here:
 *   1. Add the name to RPC_METHOD_TABLE as proto/wire/rpc.h describes (takes_params() in rpc.c has
 *      the methods without params). A method with params also needs functions in proto/wire that
 *      read them; a result of one or two numbers is written by the handler itself.
 *   2. Declare the handler below, and write it beside related handlers: submit.c makes jobs and
 *      answers requests about one job; wait.c and listing.c answer requests about many.
 *   3. Add it to the table in call.c (by default, a method refuses descriptors), and to
 *      wait_for_reply() in call.c if its reply may be large or carries a descriptor.
 *   4. Describe it in proto/PROTOCOL.md, with an example (the test mlid_protocol runs it; a member
 *      whose value differs from run to run is listed at the end of PROTOCOL.md and in VARYING in
 *      tests/integration/daemon/examples.py).
 *   5. Test it in tests/unit/daemon, and add it to the lists of methods in test_memory.c there, and
 *      in test_bad_input.py and test_bad_lines.py in tests/integration/daemon.
 *
 * A handler first refuses params that it does not know, then does its work, then returns the proof
 * that it has replied.
 *
 * Everything here belongs to the loop's thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/base/chores.h"
#include "daemon/base/link.h"
#include "daemon/base/log.h"
#include "daemon/config/config.h"
#include "daemon/job/jobs.h"
#include "daemon/net/bind.h"
#include "daemon/net/outbox.h"
#include "mli_mov_api.h"
#include "proto/json/jsonw.h"
#include "proto/wire/events.h"
#include "proto/wire/frame.h"
#include "proto/wire/job.h"
#include "proto/wire/methods.h"
#include "proto/wire/rpc.h"
#include "proto/wire/wire_limits.h"

struct call;
struct client;
struct ended;
struct net;

/* Connections. */

/*
 * The states of a connection, each with the states that may follow. The connection takes input only
 * while it is READING. In the states TURN to HELD_FDS, lines that have arrived wait in the frame
 * until the connection is READING again. Then the first of these lines is checked again for every
 * reason to wait, so the state needs to keep only one reason. CONGESTED replaces the other waiting
 * states: while a client does not read its replies, the service reads nothing from it.
 *
 *     READING      takes input
 *     TURN         the connection has used its time; its lines wait for a turn of the loop
 *     LISTING      a job.list is under way, and later lines wait for its reply (listing.c)
 *     CONGESTED    the client has more than BACKLOG_HIGH unread bytes
 *     FULL         too many descriptors of the client's user are not closed, or no line takes them
 *     HELD_JOBS    the client or the service has too many jobs
 *     HELD_REPLIES the reply of one more job may exceed the limit of unread and expected replies
 *     HELD_UNREAD  the client's user has too many unread bytes
 *     HELD_FDS     too many replies with a descriptor are unread
 *     ENDING       takes no more input, and is closed when its last replies are sent
 *     DOOMED       the loop closes the connection next: handlers may still use its structures
 *     CLOSED       the handles are closing; the last handle frees the structure
 */
#define CLIENT_STATES(X)                                                                           \
    X(READING, TO(TURN) | TO(LISTING) | TO(CONGESTED) | TO(FULL) | TO_HELD | TO_STOPPED)           \
    X(TURN, TO(READING) | TO(CONGESTED) | TO_STOPPED)                                              \
    X(LISTING, TO(TURN) | TO(CONGESTED) | TO_STOPPED)                                              \
    X(CONGESTED, TO(READING) | TO_STOPPED)                                                         \
    X(FULL, TO(TURN) | TO(CONGESTED) | TO_STOPPED)                                                 \
    X(HELD_JOBS, TO(READING) | TO(CONGESTED) | TO_STOPPED)                                         \
    X(HELD_REPLIES, TO(READING) | TO(CONGESTED) | TO_STOPPED)                                      \
    X(HELD_UNREAD, TO(READING) | TO(CONGESTED) | TO_STOPPED)                                       \
    X(HELD_FDS, TO(READING) | TO(CONGESTED) | TO_STOPPED)                                          \
    X(ENDING, TO(DOOMED) | TO(CLOSED))                                                             \
    X(DOOMED, TO(CLOSED))                                                                          \
    X(CLOSED, 0)

#define CLIENT_STATE(name, followers) CLIENT_##name,
enum client_state { CLIENT_STATES(CLIENT_STATE) };
#undef CLIENT_STATE

/* The two kinds of connections in limits.clients: open to every user, or reserved (listener.c). */
enum slot { SLOT_OPEN, SLOT_RESERVED };

/*
 * The backlog: replies that a client has not read yet, in bytes, for each connection and user.
 * Requests wait while their replies may not fit. A client is closed if its requests wait for this
 * reason, and it reads nothing for limits.reply_timeout_ms.
 */
struct backlog {
    uint64_t unread; /* bytes in the outbox, because the socket is full */
    /* Sum of the upper bounds of pending large replies (to jobs and to job.wait), in bytes. */
    uint64_t expected;
    uint64_t sent; /* outbox.sent at the time when the timer was started */
    uv_timer_t timer;
};

/* A client's subscription (subscriptions.c). It is in the lists only while it has events. */
struct subscription {
    struct link link;     /* link in the list of all subscriptions */
    struct link in_scope; /* link in a list of subscribers: to the jobs of one flow, of one user or
                             of all users, as `scope` says */
    uint32_t events;      /* kinds of events: bit 1 << enum event_kind */
    enum event_scope scope;
    uint64_t interval_ns; /* time between two progress events of a job */
    uint64_t next;        /* time of the next progress events, by uv_hrtime() */
    uint64_t dropped;     /* number of events that were not sent since the latest sent event */
};

/* A connection, its input and its replies. */
struct client {
    struct net *net;
    struct link link;    /* link in the list net->clients */
    struct link of_user; /* link in the list user->connections */
    struct session session;
    enum slot slot;
    int fd;

    enum client_state state;
    /* The peer sends nothing more. Not a state: lines that arrived before still pass through all
     * states. */
    bool input_ended;
    /* Poll has reported the peer's shutdown, and would report it in each round. Not a state: the
     * report can come before or after the last bytes are read, in each state. */
    bool peer_shut;

    uv_poll_t poll;
    int events;            /* events that poll waits for */
    uv_timer_t timer;      /* limits the time to finish a line or to flush replies; also closes a
                              DOOMED client */
    struct chore dropping; /* drops jobs and buffers of a client that is no longer open */
    unsigned handles;      /* number of handles that are not closed yet, plus 1 while `dropping`
                              must still finish */
    struct chore turn;     /* is queued while the state is TURN */
    struct link place;     /* link in net->full while FULL, in net->held.clients while HELD_* */
    struct link unsent_link, refused_link; /* links in net->unsent and net->held.refused */

    struct frame in;
    size_t counted_fds; /* number of descriptors in the frame, as user->waiting_fds counts them */
    struct outbox out;
    struct backlog backlog;
    struct link pending; /* list of pending replies, without the replies to the client's jobs */
    struct subscription subscription;
};

/* The duty to answer one request, done exactly once: see replies.c. */
struct answer {
    struct client *client; /* if the client is closing, the reply is not sent */
    struct rpc_id id;
    uint64_t expected; /* bytes of the reply that the client's backlog expects */
    bool due;
};

/*
 * A pending reply of a connection to job.wait, job.list or daemon.drain (not to a request that made
 * a job). Pending replies keep the connection open, and are dropped when it is closed. The
 * structure of the waiting request embeds a struct pending.
 */
struct pending {
    struct link link; /* link in the list client->pending */
    struct answer answer;
    void (*drop)(struct pending *pending); /* frees the request, which is no longer in the list */
};

/* A task, and the reply that is due to its client. daemon/job allocates both as one block. */
struct submission {
    struct task task;     /* first */
    struct answer answer; /* answer.due is false if the task is detached or has ended */
};

/* The clients that are HELD_*. The system does not report when a peer reads its descriptors. So a
 * timer checks the clients that are HELD_FDS, and those whose descriptor the system refused. */
struct held {
    struct link clients; /* list of the held clients; the first client is checked next */
    uint32_t count;
    uint32_t left; /* number of clients, from the first on, that must be checked after a change */
    struct chore again;  /* makes the loop run another round, which checks more clients */
    struct link refused; /* clients to whom the system did not send a descriptor */
    uint32_t waiting;    /* number of clients in `refused` or HELD_FDS */
    uv_timer_t timer;    /* runs while `waiting` is not 0 */
};

/* struct net and its parts. */

struct listener {
    struct net *net;
    bool open;
    struct bound bound;
    int reserve; /* a spare descriptor: closed to accept and refuse a connection when no other
                    descriptor is free */
    uv_poll_t poll;
    uv_timer_t retry; /* runs while accepting is paused */
};

struct subscriptions {
    struct link list;
    struct link subscribers; /* subscribers to the jobs of all users */
    uv_timer_t timer; /* timer of progress events; runs only while a subscriber wants progress and a
                         task is running */
    bool ticking;     /* true: the timer runs */
    uint64_t dropped; /* number of events that were dropped because subscribers read too slowly */
    struct jsonw line;
};

struct stats {
    uint64_t started; /* start of the service, by uv_hrtime() */
    /* Counts of the channels when the service started: subtracted from later counts. */
    mli_mov_channel_stats before[MLI_MOV_MAX_CHANNELS];
    /* The highest estimates that were reported, because a counter must not decrease. */
    struct channel_peak {
        uint64_t bytes, busy_ns;
    } peaks[MLI_MOV_MAX_CHANNELS];
};

struct net {
    uv_loop_t *loop;
    const struct config *config;
    struct chores *chores;
    struct jobs *jobs;
    /* Callbacks for client.c. `handle`: a line has arrived; `unsubscribe`: a client gets no more
     * events. */
    void (*handle)(struct client *client, const char *line, size_t length);
    void (*unsubscribe)(struct client *client);
    void (*settled)(void *context); /* called when a job or a client was destroyed */
    void *context;

    struct listener listener;
    struct link clients;     /* list of struct client */
    struct chore ending;     /* the chore that ends all clients after net_end_clients() */
    uint32_t clients_to_end; /* number of clients that the chore `ending` must still end */
    uint32_t slots[2];       /* numbers of connections, by enum slot */
    uint64_t last_client;    /* number of the latest connection */
    uint64_t turned_away;    /* number of refused connections, which get no number */
    struct log_rate turned_away_rate;
    struct link unsent;            /* clients with replies to send at the end of this round */
    struct link full;              /* clients that are FULL */
    struct held held;              /* clients that are HELD_* */
    const struct client *handling; /* the client whose lines a calling function handles now:
                                      client_settle() leaves it alone */
    uv_prepare_t round;            /* runs at the end of a round: just before the loop sleeps */
    uint64_t intake_began; /* uv_hrtime() of the first input of this round; 0: no input yet */
    uv_async_t relieved;   /* sent after descriptors were closed: FULL clients wait for this */
    struct link drains;    /* daemon.drain requests that wait for the last job */
    struct subscriptions subscriptions;
    struct stats stats;
    struct jsonw scratch; /* buffer in which replies are written before they are sent */
};

static inline uint32_t net_clients(const struct net *net)
{
    return net->slots[SLOT_OPEN] + net->slots[SLOT_RESERVED];
}

/**
 * Initialises *net without connections, and sets the callbacks of *jobs, which must be initialised.
 * `settled` is called when a job or a client was destroyed. All pointers must outlive *net.
 */
void net_init(struct net *net, struct jobs *jobs, void (*settled)(void *context), void *context);
/** Begins to close the handles; no client may be left. *net must stay until the loop has closed
 * them. */
void net_close(struct net *net);
/** Frees the other memory of *net. Call it after the loop has closed the handles. */
void net_finish(struct net *net);

/** Ends all connections, in slices of the loop's time; each is closed when its last replies are
 * sent. */
void net_end_clients(struct net *net);
/** Answers pending daemon.drain requests if no job is left, then calls net->settled. */
void net_settle(struct net *net);
/**
 * Takes input again from FULL clients. Called on any thread; it is a callback for reaper_start().
 */
void net_relieve(void *net);

/* listener.c */

/** Listens at the configured path. Returns 0 or -errno. */
int listener_open(struct listener *listener, struct net *net);
/** Serves a socket that listens already. Takes ownership, even on failure. Returns 0 or -errno. */
int listener_adopt(struct listener *listener, struct net *net, int socket);
/** Closes the listener if open. The struct must stay until the loop has closed its handles. */
void listener_close(struct listener *listener);

/* client.c */

/** Serves a connected socket. Takes ownership, even on failure. Returns 0 or -errno. */
int client_create(struct net *net, int fd, enum slot slot);
/** Takes no more input, drops the client's jobs, and closes the client after its last reply. */
void client_end(struct client *client);
/** Sets the events for which poll waits. Call it after every change of the client. */
void client_settle(struct client *client);

/**
 * Returns whether the user may administer the service: root, and the user that the service runs as.
 */
static inline bool client_is_master(const struct client *client)
{
    return client->session.flow->user->master;
}

/** Returns whether replies to the client's requests are still sent. */
static inline bool client_is_open(const struct client *client)
{
    return client->state < CLIENT_ENDING;
}

/** Makes the next line of the client wait in a state HELD_*. */
void client_hold(struct client *client, enum client_state why);
/** Makes lines wait for the reply of job.list, until client_end_listing(). */
void client_begin_listing(struct client *client);
void client_end_listing(struct client *client);

/**
 * Queues a line, which is sent at the end of this round, with a descriptor (-1: none) of which it
 * takes ownership; client_has_room_for_fd() must be true then. Never closes the client. If there
 * was no memory for the text, the loop closes the connection: the client would wait for ever.
 * Returns whether the line is queued.
 */
bool client_send(struct client *client, struct jsonw *w, int fd);
/** Queues a line as client_send() does, but without copying it. Takes ownership of the writer's
 * text. */
bool client_send_text(struct client *client, struct jsonw *w);
/** Queues an event. Returns false, and drops the event, if the client has too many unread bytes. */
bool client_send_event(struct client *client, struct jsonw *w);
/** Returns false while too many replies with descriptors are unsent or unread. */
bool client_has_room_for_fd(struct client *client);
/** Sends until the socket is full, at most 64 KiB; the next rounds send the rest. Never closes the
 * client. */
void client_flush(struct client *client);
/** Sends the replies of all clients, at the end of a round. */
void client_send_all(struct net *net);
/** Makes the reaper close descriptors that the client sent. */
void client_close_fds(const struct client *client, const int *fds, size_t count);
/** Takes input again from FULL clients, after descriptors of their users were closed. */
void client_relieve_all(struct net *net);

/**
 * Returns an upper bound of the bytes that the parameters of `count` per-axis indices take in a
 * job's reply. The rest of the reply is not counted: it has less than 1 KiB, and
 * limits.jobs_per_client bounds the number of replies.
 */
uint64_t backlog_of_result(uint64_t count);
/** Add the bytes of a pending reply to the backlog, or subtract them. */
void backlog_expect(struct client *client, uint64_t bytes);
void backlog_unexpect(struct client *client, uint64_t bytes);
/** Returns whether the reply of one more job or job.wait fits. */
bool backlog_has_room_for_jobs(const struct client *client);
/**
 * Returns false if the user exceeds the quota of reply bytes and this client has unread replies.
 */
bool backlog_has_room(const struct client *client);

/** Initialises the list without clients. */
void held_init(struct held *held, uv_loop_t *loop);
/** Begins to close the timer. */
void held_close(struct held *held);
/**
 * Makes held_check() check all held clients again: a job was destroyed, replies were sent, or
 * limits have changed.
 */
void held_check_again(struct held *held);
/** Handles the lines of held clients that may go on. Call it before the loop sleeps. */
void held_check(struct net *net);

/* replies.c */

struct call {
    struct client *client;
    struct rpc_request *request;
    int fds[PROTO_FDS_MAX];
    size_t fd_count;
    struct answer answer;
};

void answer_init(struct answer *answer, struct client *client, const struct rpc_id *id);

/** Replies with an error. */
const struct ended *answer_fault(struct answer *answer, const struct fault *fault);
/** Replies with an error that names a job. */
const struct ended *answer_job_fault(struct answer *answer, const struct fault *fault,
                                     uint64_t job);
const struct ended *answer_result(struct answer *answer, const struct job_result *result);
const struct ended *answer_info(struct answer *answer, const struct daemon_info *info);

/**
 * Begins a result. The caller writes its members, then calls answer_end(). Returns NULL if the
 * client has left: write nothing, but call answer_end() with NULL. `fds` is the number of
 * descriptors.
 */
struct jsonw *answer_begin(struct answer *answer, uint32_t fds);
/** Ends and sends a result. */
const struct ended *answer_end(struct answer *answer, struct jsonw *w);
/** Ends and sends a result with one descriptor (-1: none), of which it takes ownership. */
const struct ended *answer_end_fd(struct answer *answer, struct jsonw *w, int fd);
/** Sends a reply that the caller has written with rpc_result_begin() and rpc_result_end() in a
 * writer of its own, because that took several rounds of the loop. Takes the text out of the
 * writer. The caller must still finish the writer. */
const struct ended *answer_text(struct answer *answer, struct jsonw *w);
/** Makes `to` answer the request later, in place of `from`. The reply will have up to `expected`
 * bytes. */
const struct ended *answer_defer(struct answer *from, struct answer *to, uint64_t expected);

/**
 * Checks that the client may have one more pending reply. Returns 0, or -1 with the request's fault
 * filled.
 */
int pending_check(struct call *call);
/** Adds a pending reply of up to `expected` bytes, which takes over the duty to answer. */
const struct ended *pending_add(struct pending *pending, struct call *call, uint64_t expected,
                                void (*drop)(struct pending *pending));
/** Removes a pending reply that was sent. */
void pending_remove(struct pending *pending);

/**
 * Closes the descriptors of a successful request before its reply, so that a client that has the
 * reply knows that the service no longer holds its memfds. Memfds are closed at once, which is
 * quick because they are mapped; the reaper closes other files.
 */
void call_close_fds(struct call *call);
/** Makes the reaper close the descriptors of a refused request. */
void call_discard_fds(struct call *call);
/** Replies with the request's fault. The reaper closes the descriptors. */
const struct ended *call_refuse(struct call *call);
/** Fills the request's fault: the method takes no descriptors. */
void call_complain_fds(struct call *call);
/** Replies with the fault that the method takes no descriptors. */
const struct ended *call_refuse_fds(struct call *call);
/** Replies with a fault unless the user may administer the service; else returns NULL. */
const struct ended *call_refuse_user(struct call *call);

/** Logs `event` with the client and the fault of its refused request. */
void refusal_log(const struct client *client, const char *event, const struct fault *fault);
/**
 * Adds a failed job with the name in a refused job.submit or job.start (the name of the prepared
 * job) to the history. A later "after" with this name then fails and does not find an earlier job.
 * Does nothing for other methods and for requests without a valid name.
 */
void refusal_remember(struct client *client, const struct rpc_request *request);

/* The handlers of all methods. */

const struct ended *job_submit_call(struct call *call);
const struct ended *job_prepare_call(struct call *call);
const struct ended *job_start_call(struct call *call);
const struct ended *job_release_call(struct call *call);
const struct ended *job_wait_call(struct call *call);
const struct ended *job_status_call(struct call *call);
const struct ended *job_list_call(struct call *call);
const struct ended *job_cancel_call(struct call *call);
const struct ended *buffer_register_call(struct call *call);
const struct ended *buffer_alloc_call(struct call *call);
const struct ended *buffer_release_call(struct call *call);
const struct ended *buffer_list_call(struct call *call);
const struct ended *events_subscribe_call(struct call *call);
const struct ended *daemon_ping_call(struct call *call);
const struct ended *daemon_info_call(struct call *call);
const struct ended *daemon_stats_call(struct call *call);
const struct ended *daemon_drain_call(struct call *call);
const struct ended *daemon_resume_call(struct call *call);

/** Replies to the request of a task that has ended (jobs_callbacks.ended). */
void submission_ended(struct task *task, const struct ending *ending);
/** Returns an upper bound of the bytes of the task's reply, as backlog_of_result() counts them. */
uint64_t submission_reply_max(const struct task *task);
/** Answers the waiting daemon.drain requests if no job is left. */
void drain_settle(struct net *net);

/** Sends an event of a task to its subscribers. Changes event->dropped. */
void subscriptions_spread(struct net *net, const struct task *task, struct event *event);
void subscriptions_init(struct subscriptions *all, uv_loop_t *loop);
/** Begins to close the timer. The struct must stay until the loop has closed the timer. */
void subscriptions_close(struct subscriptions *all);
/** Removes the subscription of the client, if any. */
void subscriptions_remove(struct client *client);

/** Saves the channels' counts at the start, which are subtracted from the counts in reports. */
void stats_init(struct stats *stats);
/**
 * Fills all numbers. Lists the users and connections that `viewer` may see: only the viewer's own,
 * or all if the viewer may administer the service or is null.
 */
void stats_fill(struct daemon_stats *out, struct net *net, const struct user *viewer);

/* call.c */

/**
 * Handles one line: takes its descriptors from the client's frame, runs the handler of its method,
 * and makes sure that it is answered. If the request must wait, puts the line back and holds the
 * client.
 */
void call_handle(struct client *client, const char *line, size_t length);
