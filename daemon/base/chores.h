/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work that is too long for one round of the loop: it is done in slices, and between them the loop
 * serves its clients.
 */
#ifndef DAEMON_CHORES_H
#define DAEMON_CHORES_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/base/link.h"

/* Embedded by whoever has the work. */
struct chore {
    struct link link;
    /* Does a slice of the work. The chore is not queued then, and may be added again. */
    void (*run)(struct chore *chore);
};

struct chores {
    struct link queue;
    uv_idle_t idle; /* runs while the queue has chores */
};

/* How long requests of one client, or jobs that start, may keep the loop from everybody else. */
#define CHORE_TURN_NS ((uint64_t)2 * 1000 * 1000)
/* How long a slice of a walk over many jobs may take. */
#define CHORE_SLICE_NS ((uint64_t)50 * 1000)

void chores_init(struct chores *chores, uv_loop_t *loop);
/** Begins to close; no chore may be queued. The memory must stay until the loop has run on. */
void chores_close(struct chores *chores);

void chore_init(struct chore *chore, void (*run)(struct chore *chore));
/** Has the chore run once in the next round of the loop. It must not be queued already. */
void chore_add(struct chores *chores, struct chore *chore);

static inline bool chore_queued(const struct chore *chore)
{
    return !link_empty(&chore->link);
}

/** The chore does not run any more; does nothing if it is not queued. */
static inline void chore_remove(struct chore *chore)
{
    link_remove(&chore->link);
}

#endif /* DAEMON_CHORES_H */
