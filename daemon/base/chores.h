/* SPDX-License-Identifier: BSD-3-Clause */
/* Chores: long work, done in one slice for each round of the loop, so that clients do not wait. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/base/link.h"

/* A chore. The structure that describes the work embeds it. */
struct chore {
    struct link link;
    /* Does one slice of the work. The chore is no longer queued, so `run` may add it again. */
    void (*run)(struct chore *chore);
};

struct chores {
    struct link queue;
    uv_idle_t idle; /* runs while the queue has chores */
};

/* The longest time for which one client's requests, or starts of jobs, may occupy the loop. */
#define CHORE_TURN_NS ((uint64_t)2 * 1000 * 1000)
/* The longest time for one slice of a walk over many jobs. */
#define CHORE_SLICE_NS ((uint64_t)40 * 1000)

void chores_init(struct chores *chores, uv_loop_t *loop);
/** Begins to close the handles; no chore may be queued. The struct must stay until the loop has
 * closed the handles. */
void chores_close(struct chores *chores);

void chore_init(struct chore *chore, void (*run)(struct chore *chore));
/** Queues a chore, which runs once in the next round of the loop. It must not be queued already. */
void chore_add(struct chores *chores, struct chore *chore);

static inline bool chore_queued(const struct chore *chore)
{
    return !link_empty(&chore->link);
}

/** Removes a chore from the queue; does nothing if it is not queued. */
static inline void chore_remove(struct chore *chore)
{
    link_remove(&chore->link);
}
