/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of the scheduler, for comparisons: deficit round robin as defined, one round after
 * another, in arrays. The model shares no code with daemon/job/scheduler.c, and does not limit the
 * work of a call.
 */
#ifndef TEST_SCHEDULER_MODEL_H
#define TEST_SCHEDULER_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MODEL_USERS = 4,
    MODEL_FLOWS = 12, /* flow f belongs to user f % MODEL_USERS */
    MODEL_LEVELS = 3, /* classes and priorities: 0, 1, 2 */
    MODEL_JOBS = 64   /* jobs have numbers below this */
};

struct model_turn {
    uint64_t deficit, since;
    bool granted;
};

/* The flows of a ring, in the order of their turns and in the order of their ages. */
struct model_ring {
    int turns[MODEL_FLOWS], ages[MODEL_FLOWS], count;
};

struct model_queue {
    int jobs[MODEL_JOBS], count;
};

struct model_job {
    bool queued;
    int flow, class, priority;
    uint64_t cost;
};

struct model {
    uint64_t quantum, ageing, weights[MODEL_USERS];
    struct model_job jobs[MODEL_JOBS];
    /* For each class, the ring of users; for each class, user and priority, the ring of flows. */
    struct model_ring users[MODEL_LEVELS];
    struct model_turn user_turns[MODEL_LEVELS][MODEL_USERS];
    struct model_ring flows[MODEL_LEVELS][MODEL_USERS][MODEL_LEVELS];
    struct model_turn flow_turns[MODEL_LEVELS][MODEL_LEVELS][MODEL_FLOWS];
    struct model_queue queues[MODEL_LEVELS][MODEL_FLOWS][MODEL_LEVELS];
    uint64_t moved_up; /* jobs that ageing has moved up */
};

/** Queues a job. */
void model_push(struct model *m, int job, int flow, int class, int priority, uint64_t cost,
                uint64_t now);
void model_remove(struct model *m, int job);
/** Return the job that starts next, or -1. */
int model_take(struct model *m, uint64_t now);
int model_backfill(struct model *m, bool (*fits)(int job), int users_max, uint64_t now);

#endif /* TEST_SCHEDULER_MODEL_H */
