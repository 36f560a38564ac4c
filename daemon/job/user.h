/* SPDX-License-Identifier: BSD-3-Clause */
/* Users with connections, jobs or records: the numbers for their quotas and statistics. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/hash_table.h"
#include "daemon/base/link.h"
#include "daemon/base/log.h"
#include "daemon/job/scheduler.h"
#include "daemon/memory/buffer.h"

/* Lists of records, each with the oldest record first. */
struct shelf_lists {
    struct link delivered;   /* records of jobs whose result was sent to the client */
    struct link undelivered; /* records of detached jobs that no job.wait has reported */
};

struct shelf {
    struct shelf_lists all;
    struct shelf_lists heavy;    /* records with per-axis parameters */
    uint32_t count, undelivered; /* number of records, and of undelivered records among them */
    uint64_t quant_bytes;
    struct link in_history;         /* link in history.shelves; unused if count is 0 */
    struct link by_count, by_quant; /* links in the history's lists of the same names */
};

static inline void shelf_init(struct shelf *shelf)
{
    *shelf = (struct shelf){.count = 0};
    link_init(&shelf->all.delivered);
    link_init(&shelf->all.undelivered);
    link_init(&shelf->heavy.delivered);
    link_init(&shelf->heavy.undelivered);
    link_init(&shelf->in_history);
    link_init(&shelf->by_count);
    link_init(&shelf->by_quant);
}

/* All users, one struct user for each uid: users with connections, jobs or records, and the latest
 * USERS_KEPT users that no longer have any. */
struct users {
    struct hash_table by_uid;
    struct link busy;    /* users with holders */
    struct link idle;    /* users without holders, the latest at the end */
    uint32_t idle_count; /* number of idle users, at most USERS_KEPT */
    struct buffer_account account;
};

struct user {
    struct link link; /* link in users->busy or users->idle */
    struct hash_node by_uid;
    struct users *users;
    struct share share; /* the user's share of the channels */
    uid_t uid;
    bool master;             /* cached result of uid_is_master() */
    uint32_t holders;        /* number of connections, jobs and records of the user */
    struct link entries;     /* jobs and records (struct entry), in the order of their numbers */
    struct shelf shelf;      /* records of the user (history.c) */
    struct link subscribers; /* clients that subscribed to the jobs of the user
                                (daemon/net/net.h) */
    struct link connections; /* open connections (struct client, by of_user) */
    uint32_t clients;        /* number of open connections */
    uint32_t jobs;           /* number of tasks */
    size_t waiting_fds; /* descriptors received, but not taken by a request yet (net/client.c) */
    bool crowded;       /* true: a connection waits until waiting_fds is lower */
    struct buffer_account account;
    uint64_t reply_bytes; /* unread and expected replies of all connections (net/net.h) */
    uint64_t jobs_done, bytes_moved; /* sums since the first connection */
    struct log_rate log_rates[LOG_KINDS];
};

/* Number of idle users whose counters are kept. */
enum { USERS_KEPT = 64 };

void users_init(struct users *users);
/** Frees all users; none may have holders. */
void users_finish(struct users *users);

/** Returns the user with this number, or NULL. */
struct user *user_find(const struct users *users, uid_t uid);
/** Finds or creates a user, and adds a holder. Returns NULL if out of memory. */
struct user *user_hold(struct users *users, uid_t uid);
void user_drop(struct user *user);

/* The process at the other end of a connection (SO_PEERCRED). */
struct credentials {
    pid_t pid;
    uid_t uid;
};

/*
 * The jobs of one connection, as the scheduler and the statistics see them. A flow outlives its
 * connection while detached jobs hold it.
 */
struct flow {
    uint64_t number; /* number of the connection */
    pid_t pid;
    struct user *user;
    uint32_t holders;        /* number of holders: the connection and its jobs */
    uint32_t jobs;           /* number of tasks */
    struct link tasks;       /* tasks that have not ended, in the order of their numbers */
    uint32_t unfinished;     /* number of tasks in `tasks` */
    struct link watches;     /* list of struct watch, called for each task that ends */
    struct link subscribers; /* clients that subscribed to the jobs of the flow
                                (daemon/net/net.h) */
    struct lanes lanes;
    uint64_t jobs_done, bytes_moved;
    struct buffer_account account;
    uint32_t dropped; /* number of jobs that a shutdown has ended and that are not logged yet */
    struct link dropped_link; /* link in the list jobs->dropped if `dropped` is not 0 */
};

/** Creates a flow with one holder. Returns NULL if out of memory. */
struct flow *flow_create(struct users *users, uint64_t number, const struct credentials *peer);
/** Adds the connection's number, pid and uid to a log line. */
void flow_log(const struct flow *flow, struct log_line *line);
void flow_hold(struct flow *flow);
void flow_drop(struct flow *flow);
