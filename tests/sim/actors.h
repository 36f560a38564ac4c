/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated clients. Each is a process with one fiber that connects, behaves in its own way,
 * disconnects, and begins again until actors_stop().
 *
 * worker.c   well-behaved: submits, prepares, starts, waits, cancels; checks all answers slow.c
 * sends many requests, reads replies late or not at all hostile.c  sends garbage, wrong and half
 * requests, and descriptors of all kinds spy.c asks for jobs and data of other users main.c
 * kills any of them at any time, and starts it again
 */
#ifndef SIM_ACTORS_H
#define SIM_ACTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "mli_client.h"
#include "tests/sim/errand.h"
#include "tests/sim/kernel.h"

enum role { ROLE_WORKER, ROLE_SLOW, ROLE_HOSTILE, ROLE_SPY, ROLES };

enum { ERRANDS = 6, ACTORS_MAX = 64 };

struct actor {
    struct process process;
    enum role role;
    struct errand errands[ERRANDS];
    uint64_t bytes;    /* bytes of this client's jobs that are done */
    uint64_t think_us; /* longest pause between two of its actions */
    bool contends;     /* true: it always has jobs in the queue, all of one size */
    bool idle;         /* true: its fiber has ended */
};

/** Counters for all actors together. */
struct tally {
    uint64_t connections, turned_away, jobs_done, jobs_failed, lost, spied;
};
extern struct tally tally;

/** Starts the fiber of an actor. */
void actor_start(struct actor *actor);
/** Ends the process of an actor as SIGKILL does. Its memory stays until the next start. */
void actor_kill(struct actor *actor);
/** Tells all actors to disconnect and end. */
void actors_stop(void);
bool actors_are_stopping(void);

void worker_run(struct actor *actor, mli_client *client);
void slow_run(struct actor *actor);
void hostile_run(struct actor *actor);
void spy_run(struct actor *actor, mli_client *client);

/** Connects to the service; tries again while its backlog is full. Returns a descriptor, or -1. */
int actor_connect(struct actor *actor);
/** Sleeps for a random time, which is mostly short. */
void actor_think(const struct actor *actor);

#endif /* SIM_ACTORS_H */
