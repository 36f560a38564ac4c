/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the scheduler with as many users as mlid serves connections. */
#include <err.h>
#include <stdlib.h>

#include "bench/calls/longest.h"
#include "daemon/job/scheduler.h"

enum {
    USERS = 4096, /* maximum of limits.clients */
    QUANTUM = 1 << 20,
    JOB = 1 << 30, /* bytes of a job: a thousand quanta */
    SECOND = 1000000000
};

struct member {
    struct share share;
    struct lanes lanes;
    struct queued queued;
};

static struct scheduler scheduler;
static struct member *members;

static struct scene_memory begin(void)
{
    members = calloc(USERS, sizeof *members);
    if (!members)
        err(1, "%d users", USERS);
    scheduler_init(&scheduler, QUANTUM, 0);
    return (struct scene_memory){members, USERS * sizeof *members};
}

static void end(void)
{
    for (uint32_t i = 0; i < USERS; i++)
        scheduler_remove(&scheduler, &members[i].queued);
    free(members);
}

static void push(uint32_t at, struct share *share, int priority, uint64_t bytes)
{
    struct member *member = &members[at];

    lanes_init(&member->lanes, share);
    queued_init(&member->queued);
    scheduler_push(&scheduler, &member->lanes, &member->queued, priority, 1, bytes, 0);
}

/* All users wait with large jobs. They enter the ring in steps of a prime, so that neighbours in
 * the ring are not neighbours in memory. */
static struct scene_memory begin_choose(void)
{
    const struct scene_memory memory = begin();

    for (uint32_t i = 0; i < USERS; i++)
        share_init(&members[i].share);
    for (uint32_t i = 0; i < USERS; i++) {
        const uint32_t at = i * 1117 % USERS;

        push(at, &members[at].share, 0, JOB + (at == 100 ? 0 : QUANTUM));
    }
    return memory;
}

static void call_take(uint32_t at)
{
    (void)at;
    (void)scheduler_take(&scheduler, 0);
}

const struct scene choose_scene = {
    .title = "scheduler_take: 4096 users with jobs of 1 GiB",
    .calls = 4 * USERS / SCHEDULER_STEPS_MAX,
    .begin = begin_choose,
    .call = call_take,
    .end = end,
};

/* 2047 users have one connection each; user 0 has 2049 connections. */
static struct scene_memory begin_choose_lanes(void)
{
    const struct scene_memory memory = begin();

    for (uint32_t i = 0; i < USERS; i++)
        share_init(&members[i].share);
    for (uint32_t i = 0; i < USERS; i++) {
        const uint32_t at = i * 1117 % USERS;

        push(at, &members[at < USERS / 2 ? at : 0].share, 0, JOB + at);
    }
    return memory;
}

const struct scene choose_lanes_scene = {
    .title = "scheduler_take: 2048 users, one with 2049 connections",
    .calls = 4 * USERS / SCHEDULER_STEPS_MAX,
    .begin = begin_choose_lanes,
    .call = call_take,
    .end = end,
};

static struct scene_memory begin_age(void)
{
    const struct scene_memory memory = begin_choose();

    for (uint32_t i = 0; i < USERS; i++)
        scheduler_remove(&scheduler, &members[i].queued);
    for (uint32_t i = 0; i < USERS; i++) {
        const uint32_t at = i * 1117 % USERS;

        push(at, &members[at].share, -1, 1);
    }
    scheduler.ageing_ns = SECOND;
    return memory;
}

static void call_age(uint32_t at)
{
    (void)scheduler_take(&scheduler, (uint64_t)SECOND + at);
}

const struct scene age_scene = {
    .title = "scheduler_take: 4096 users have waited too long",
    .calls = 2 * USERS / SCHEDULER_AGED_MAX,
    .begin = begin_age,
    .call = call_age,
    .end = end,
};
