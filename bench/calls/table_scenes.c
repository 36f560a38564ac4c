/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls on tables of mlid that are as full as its limits allow. */
#include <err.h>
#include <stdlib.h>
#include <uv.h>

#include "bench/calls/longest.h"
#include "daemon/base/link.h"
#include "daemon/job/jobs.h"
#include "daemon/memory/board.h"
#include "daemon/memory/sigbus.h"

enum { JOBS = 16384 /* maximum of limits.jobs */, CALLS = 300 };

#define HOUR_NS UINT64_C(3600000000000)

static uv_loop_t loop;
static struct deadlines deadlines;
static struct task *tasks;

/* Not called: all deadlines are far. */
static void on_passed(uv_timer_t *timer)
{
    (void)timer;
}

static void add_deadline(uint32_t at, uint64_t ns)
{
    tasks[at].deadline = uv_hrtime() + HOUR_NS + ns;
    deadline_add(&deadlines, &tasks[at]);
}

static struct scene_memory begin_deadline(void)
{
    tasks = calloc(JOBS, sizeof *tasks);
    if (!tasks || uv_loop_init(&loop) < 0)
        err(1, "deadlines");
    deadlines_init(&deadlines, &loop, on_passed);
    for (uint32_t i = 0; i < JOBS; i++)
        if (deadlines_reserve(&deadlines, i + 1) < 0)
            err(1, "deadlines");
    for (uint32_t i = 0; i < JOBS; i++)
        add_deadline(i, HOUR_NS);
    return (struct scene_memory){tasks, JOBS * sizeof *tasks};
}

/* The oldest job ends, and a job with the earliest deadline of all comes. */
static void call_deadline(uint32_t at)
{
    deadline_remove(&deadlines, &tasks[at]);
    add_deadline(at, (uint64_t)(CALLS - at) * 1000000);
}

static void end_deadline(void)
{
    for (uint32_t i = 0; i < JOBS; i++)
        deadline_remove(&deadlines, &tasks[i]);
    deadlines_close(&deadlines);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    free(tasks);
}

const struct scene deadline_scene = {
    .title = "a deadline ends and another comes: 16384 jobs",
    .calls = CALLS,
    .begin = begin_deadline,
    .call = call_deadline,
    .end = end_deadline,
};

static struct sigbus_guard *guards;

/* The scenes access no guarded memory, so the addresses are arbitrary. */
static void guard(uint32_t at)
{
    if (sigbus_guard_init(&guards[at], (void *)(uintptr_t)(4096 * (at + 1)), 4096) < 0)
        errx(1, "guard %u", (unsigned)at);
}

static struct scene_memory begin_guard(void)
{
    guards = calloc(SIGBUS_GUARDS_MAX, sizeof *guards);
    if (!guards)
        err(1, "guards");
    for (uint32_t i = 0; i < SIGBUS_GUARDS_MAX; i++)
        guard(i);
    return (struct scene_memory){guards, SIGBUS_GUARDS_MAX * sizeof *guards};
}

static void call_guard(uint32_t at)
{
    const uint32_t other = at * 16381 % SIGBUS_GUARDS_MAX;

    (void)sigbus_guard_finish(&guards[other]);
    guard(other);
}

static void end_guard(void)
{
    for (uint32_t i = 0; i < SIGBUS_GUARDS_MAX; i++)
        (void)sigbus_guard_finish(&guards[i]);
    free(guards);
}

const struct scene guard_scene = {
    .title = "a SIGBUS guard ends and another comes: 65536 guards",
    .calls = CALLS,
    .begin = begin_guard,
    .call = call_guard,
    .end = end_guard,
};

static struct target_profile profile;
static struct board board;
static struct board_piece *pieces;
static struct fault fault;

static void place(uint32_t at, uint64_t bytes)
{
    static const struct board_use use = {.percent = 100};
    const struct board_want want = {.use = &use, .bytes = bytes, .pointer = "", .name = "bench"};

    if (board_place(&board.memories[0], &pieces[at], &want, &fault) < 0)
        errx(1, "%s", fault.text);
}

static struct scene_memory begin_place(void)
{
    profile = (struct target_profile){.memory_count = 1};
    profile.memories[0] = (struct profile_memory){.size = UINT64_C(1) << 40, .alignment = 64};
    pieces = calloc(JOBS, sizeof *pieces);
    if (!pieces)
        err(1, "pieces");
    board_init(&board, &profile);
    for (uint32_t i = 0; i < JOBS; i++)
        place(i, 64 * (1 + i % 7));
    for (uint32_t i = 0; i < JOBS; i += 2) /* leaves a free range between any two pieces */
        board_remove(&pieces[i]);
    return (struct scene_memory){pieces, JOBS * sizeof *pieces};
}

static void call_place(uint32_t at)
{
    const uint32_t piece = 2 * at * 37 % JOBS;

    if (pieces[piece].memory)
        board_remove(&pieces[piece]);
    place(piece, 64 * (1 + at % 9));
}

static void end_place(void)
{
    for (uint32_t i = 0; i < JOBS; i++)
        if (pieces[i].memory)
            board_remove(&pieces[i]);
    free(pieces);
}

const struct scene place_scene = {
    .title = "board_place: 8192 pieces with free ranges between them",
    .calls = CALLS,
    .begin = begin_place,
    .call = call_place,
    .end = end_place,
};
