/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/daemon/scheduler_model.h"

#include <string.h>

static void take_out(int *list, int count, int member)
{
    int at = 0;

    while (list[at] != member)
        at++;
    memmove(list + at, list + at + 1, (size_t)(count - at - 1) * sizeof(*list));
}

static void to_end(int *list, int count, int member)
{
    take_out(list, count, member);
    list[count - 1] = member;
}

static void enter(struct model_ring *ring, struct model_turn *turns, int member, uint64_t now)
{
    ring->turns[ring->count] = ring->ages[ring->count] = member;
    ring->count++;
    turns[member] = (struct model_turn){.since = now};
}

static void leave(struct model_ring *ring, int member)
{
    take_out(ring->turns, ring->count, member);
    take_out(ring->ages, ring->count, member);
    ring->count--;
}

static void renew(struct model_ring *ring, struct model_turn *turn, int member, uint64_t now)
{
    to_end(ring->ages, ring->count, member);
    turn->since = now;
}

static void pass(struct model_ring *ring, struct model_turn *turn, int member)
{
    turn->granted = false;
    to_end(ring->turns, ring->count, member);
}

/*
 * Returns the member of the ring that has waited longest, or -1 if it has waited for less than
 * `ageing`.
 */
static int overdue(const struct model *m, const struct model_ring *ring,
                   const struct model_turn *turns, uint64_t now)
{
    if (m->ageing == 0 || ring->count == 0 || now < turns[ring->ages[0]].since)
        return -1;
    return now - turns[ring->ages[0]].since >= m->ageing ? ring->ages[0] : -1;
}

static int user_of(int flow)
{
    return flow % MODEL_USERS;
}

static void enter_queue(struct model *m, int job, int class, int priority, uint64_t now)
{
    const int flow = m->jobs[job].flow, user = user_of(flow);
    struct model_queue *queue = &m->queues[class][flow][priority];

    if (queue->count == 0)
        enter(&m->flows[class][user][priority], m->flow_turns[class][priority], flow, now);
    queue->jobs[queue->count++] = job;
    m->jobs[job].class = class;
    m->jobs[job].priority = priority;
}

static bool user_has_jobs(const struct model *m, int class, int user)
{
    for (int priority = 0; priority < MODEL_LEVELS; priority++) {
        if (m->flows[class][user][priority].count > 0)
            return true;
    }
    return false;
}

static void enter_class(struct model *m, int job, int class, int priority, uint64_t now)
{
    const int user = user_of(m->jobs[job].flow);

    if (!user_has_jobs(m, class, user))
        enter(&m->users[class], m->user_turns[class], user, now);
    enter_queue(m, job, class, priority, now);
}

/*
 * Removes a job from its queue. If the job was served and its flow has more jobs, the flow's age
 * restarts.
 */
static void leave_queue(struct model *m, int job, bool served, uint64_t now)
{
    const struct model_job *j = &m->jobs[job];
    struct model_queue *queue = &m->queues[j->class][j->flow][j->priority];
    struct model_ring *flows = &m->flows[j->class][user_of(j->flow)][j->priority];

    take_out(queue->jobs, queue->count, job);
    if (--queue->count == 0)
        leave(flows, j->flow);
    else if (served)
        renew(flows, &m->flow_turns[j->class][j->priority][j->flow], j->flow, now);
}

static void leave_class(struct model *m, int job, bool served, uint64_t now)
{
    const int class = m->jobs[job].class, user = user_of(m->jobs[job].flow);

    leave_queue(m, job, served, now);
    if (!user_has_jobs(m, class, user))
        leave(&m->users[class], user);
    else if (served)
        renew(&m->users[class], &m->user_turns[class][user], user, now);
}

/* Moves up the first job of each flow of a user that was not served for a long time. */
static void age_flows(struct model *m, int class, int user, uint64_t now)
{
    for (int priority = MODEL_LEVELS - 2; priority >= 0; priority--) {
        int flow;

        while ((flow = overdue(m, &m->flows[class][user][priority], m->flow_turns[class][priority],
                               now)) >= 0) {
            const int job = m->queues[class][flow][priority].jobs[0];

            leave_queue(m, job, true, now);
            enter_queue(m, job, class, priority + 1, now);
            m->moved_up++;
        }
    }
}

/* Returns the next job of a user in a class: round robin between the flows with high priority. */
static int next_of(struct model *m, int class, int user, uint64_t now)
{
    int priority = MODEL_LEVELS - 1;

    age_flows(m, class, user, now);
    while (m->flows[class][user][priority].count == 0)
        priority--;
    for (;;) {
        struct model_ring *ring = &m->flows[class][user][priority];
        const int flow = ring->turns[0];
        struct model_turn *turn = &m->flow_turns[class][priority][flow];
        const int job = m->queues[class][flow][priority].jobs[0];

        if (!turn->granted)
            turn->deficit += m->quantum;
        turn->granted = true;
        if (turn->deficit >= m->jobs[job].cost)
            return job;
        pass(ring, turn, flow);
    }
}

static void age_classes(struct model *m, uint64_t now)
{
    for (int class = MODEL_LEVELS - 2; class >= 0; class --) {
        int user;

        while ((user = overdue(m, &m->users[class], m->user_turns[class], now)) >= 0) {
            const int job = next_of(m, class, user, now);
            const int priority = m->jobs[job].priority;

            leave_class(m, job, true, now);
            enter_class(m, job, class + 1, priority > class + 1 ? priority : class + 1, now);
            m->moved_up++;
        }
    }
}

static void serve(struct model *m, int job, uint64_t now)
{
    struct model_job *j = &m->jobs[job];
    struct model_turn *user = &m->user_turns[j->class][user_of(j->flow)];

    user->deficit = user->deficit > j->cost ? user->deficit - j->cost : 0;
    m->flow_turns[j->class][j->priority][j->flow].deficit -= j->cost;
    leave_class(m, job, true, now);
    j->queued = false;
}

void model_push(struct model *m, int job, int flow, int class, int priority, uint64_t cost,
                uint64_t now)
{
    m->jobs[job] = (struct model_job){.queued = true, .flow = flow, .cost = cost};
    enter_class(m, job, class, priority, now);
}

void model_remove(struct model *m, int job)
{
    leave_class(m, job, false, 0);
    m->jobs[job].queued = false;
}

int model_take(struct model *m, uint64_t now)
{
    int class = MODEL_LEVELS - 1;

    age_classes(m, now);
    while (class >= 0 && m->users[class].count == 0)
        class --;
    while (class >= 0) {
        const int user = m->users[class].turns[0];
        struct model_turn *turn = &m->user_turns[class][user];
        int job;

        if (!turn->granted)
            turn->deficit += m->quantum * m->weights[user];
        turn->granted = true;
        job = next_of(m, class, user, now);
        if (turn->deficit >= m->jobs[job].cost) {
            serve(m, job, now);
            return job;
        }
        pass(&m->users[class], turn, user);
    }
    return -1;
}

int model_backfill(struct model *m, bool (*fits)(int job), int users_max, uint64_t now)
{
    for (int class = MODEL_LEVELS - 1; class >= 0; class --) {
        struct model_ring *ring = &m->users[class];

        for (int i = 0; i < users_max && i < ring->count; i++) {
            const int user = ring->turns[i], job = next_of(m, class, user, now);

            if (!fits(job))
                continue;
            serve(m, job, now);
            if (user_has_jobs(m, class, user))
                pass(ring, &m->user_turns[class][user], user);
            return job;
        }
    }
    return -1;
}
