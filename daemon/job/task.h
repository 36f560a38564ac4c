/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that was admitted: what it does, the memory it does it in, and who waits for its end.
 *
 *     task_create  task_accept     after.c       dispatch.c      complete.c
 *      (admit) -----> waiting -----> queued -----> running -----> (channels) -----> task_destroy
 *                        |             |              |                |                ^
 *                        +-------------+--------------+--- task_end ---+----------------+
 *
 * task_end() is where everybody learns how it ended: answer, events, history, statistics, those who
 * wait. A running task that is given up (deadline, cancel, watchdog) ends at once; the rest follows
 * when its transfer has stopped. A task belongs to the loop's thread; while it runs, the thread
 * that completes its transfer has what is marked as its.
 */
#ifndef DAEMON_TASK_H
#define DAEMON_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/link.h"
#include "daemon/job/flow.h"
#include "daemon/job/registry.h"
#include "daemon/job/watch.h"
#include "daemon/job/work.h"
#include "daemon/memory/buffer.h"
#include "daemon/net/answer.h"

struct client;
struct dependency;
struct dependents;
struct log_line;
struct service;

/* How its transfer went. complete.c writes it. */
struct task_end {
    const char *obstacle;      /* null: it ran; else why it did not. Static storage */
    mli_mov_status_t transfer; /* where it ran */
    bool src_hit, dst_hit;     /* a file shrank, or its storage failed */
    uint64_t started, done;    /* uv_hrtime() */
};

enum { TASK_CAUSE_MAX = 2 * PROTO_NAME_MAX };

struct task {
    struct entry entry; /* first, so that the registry's entry is the task */
    struct service *service;
    struct flow *flow; /* held */
    struct work *work; /* held */
    struct places places;
    enum job_state state;
    bool ended;    /* everybody knows how */
    bool detached; /* outlives its connection */
    int32_t priority;
    uint32_t timeout_ms;
    struct answer answer;
    uint64_t reply_bytes; /* that its client expects: backlog.h */
    uint64_t admitted;    /* uv_hrtime() */
    uint64_t deadline;    /* uv_hrtime(); 0: none */

    struct link all_link;    /* service: all of them */
    struct link flow_link;   /* flow: until it has ended */
    struct link client_link; /* client: those that go when it goes */
    uint32_t deadline_place; /* deadline.c: in its heap, from 1; 0: not there */
    struct link place;       /* dispatch.c: tasks that wait for channels, or run */
    struct queued queued;    /* scheduler */

    struct link watches;              /* struct watch */
    struct dependents *dependents;    /* after.c: the jobs that wait for this one; null: none */
    struct dependency *dependencies;  /* after.c: one for each of `after` that is under way */
    uint32_t dependency_count, waits; /* waits: dependencies that are not settled yet */

    int first_channel; /* -1: not started yet */
    uint64_t lost;     /* watchdog.lost when the transfer was started */
    mli_mov_handle_t handle;
    const int8_t *dst_data; /* the destination's first element; when it has run, a mere number */
    int32_t cookie;         /* complete.c: of the callback */
    /* Of the thread that completes the transfer, while running: */
    struct task_end end;
    struct task *ended_before; /* complete.c: the list of those that ended */
};

/** For `client`, whose flow is charged from now on. Null where memory is short. */
struct task *task_create(struct client *client);
/** It gets its number and can be found; its name is that of its job. Its `state` is WAITING. */
void task_accept(struct task *task);
/** Releases everything, and the charge. Not while its transfer runs. Null is fine. */
void task_destroy(struct task *task);

/** Its state from now on. */
void task_become(struct task *task, enum job_state state);

/** Upper bound of the bytes of its reply, as backlog_of_result(). */
uint64_t task_reply_max(const struct task *task);

/** The client has left, or knows enough: nobody is told how the task ends. */
void task_orphan(struct task *task);

/** How long it may take, counted from its arrival; 0: as long as it takes. */
void task_set_timeout(struct task *task, uint32_t timeout_ms);

/** It ends: well, where `fault` is null. Tells everybody. Once. */
void task_end(struct task *task, const struct fault *fault);
/**
 * Ends it from wherever it is: a running one's transfer is cancelled and destroys it later, any
 * other one is gone. dispatch_run() afterwards.
 */
void task_abort(struct task *task, const struct fault *fault);

static inline uint32_t task_channels(const struct task *task)
{
    return task->work->job.common.channels;
}

/* How long it was queued and has been moving, until `now` where that has not ended. */
static inline uint64_t task_ns_queued(const struct task *task, uint64_t now)
{
    return (task->end.started ? task->end.started : now) - task->admitted;
}

static inline uint64_t task_ns_moving(const struct task *task, uint64_t now)
{
    return task->end.started ? now - task->end.started : 0;
}

/** What a running one has written for sure by now. */
uint64_t task_bytes_done(const struct task *task);

/** Begins a log line about the task and its client. */
bool task_log_begin(struct log_line *line, int level, const char *event, const struct task *task);

#endif /* DAEMON_TASK_H */
