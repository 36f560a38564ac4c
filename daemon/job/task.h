/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A task: a job that was admitted, with its memory, until its transfer has ended.
 *
 *     task_create  task_accept     after.c       dispatch.c    completions.c
 *      (admit) -----> waiting -----> queued -----> running -----> (channels) -----> task_destroy
 *                        |             |              |                |                ^
 *                        +-------------+--------------+--- task_end ---+----------------+
 *
 * task_end() reports the end to all of these: the client, watchers, subscribers, dependents,
 * history and statistics. If a running task is given up (deadline, cancel, watchdog), it ends at
 * once, and it is destroyed when its transfer has stopped. A task belongs to the loop's thread.
 * While the task runs, the thread that completes its transfer owns the members that are marked so.
 */
#ifndef DAEMON_TASK_H
#define DAEMON_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/link.h"
#include "daemon/job/operands.h"
#include "daemon/job/registry.h"
#include "daemon/job/user.h"
#include "daemon/memory/buffer.h"
#include "proto/wire/job_info.h"
#include "proto/wire/job_result.h"

struct dependency;
struct dependents;
struct jobs;
struct session;

/* The result of a transfer. completions.c writes it. */
struct task_end {
    const char *obstacle; /* static text: why the transfer was not started; null: it was started */
    mli_mov_status_t transfer; /* status of a transfer that was started */
    bool src_hit, dst_hit;     /* true: the file shrank, or its storage failed */
    uint64_t started, done;    /* times by uv_hrtime() */
};

/* The end of a task. All pointers are borrowed for the duration of the call. */
struct ending {
    const struct task *task;
    enum job_state state;
    const struct job_result *result; /* null unless the job is done */
    const struct fault *fault;       /* null if the job is done */
    uint64_t when;                   /* time by uv_hrtime() */
    uint64_t bytes_done;             /* a lower bound of the bytes written */
};

/*
 * Waits for the end of a task, or of all tasks of a flow. `ended` is called once for a task, after
 * the watch has left the task's list; for a flow, each time that one of its tasks ends, and may
 * remove the watch. `ended` must not end or destroy tasks: a chain of tasks would become a chain of
 * calls.
 */
struct watch {
    struct link link;
    void (*ended)(struct watch *watch, const struct ending *ending);
};

enum { TASK_CAUSE_MAX = 2 * PROTO_NAME_MAX };

struct task {
    struct entry entry; /* first, so that the registry's entry is the task */
    struct jobs *jobs;
    struct session *session; /* null: the task is detached, or its client has left */
    struct flow *flow;       /* held */
    struct work *work;       /* held */
    struct places places;
    enum job_state state;
    bool ended;    /* true: task_end() was called */
    bool detached; /* true: the task outlives its connection */
    int32_t priority;
    uint32_t timeout_ms;
    uint64_t admitted; /* time by uv_hrtime() */
    uint64_t deadline; /* time by uv_hrtime(); 0: no deadline */

    struct link all_link;     /* in the list jobs->tasks */
    struct link flow_link;    /* in flow->tasks, until the task has ended */
    struct link session_link; /* in the list session->tasks */
    uint32_t deadline_place;  /* deadline.c: index in its heap, from 1; 0: not in the heap */
    struct link place;        /* in the list jobs->wide or jobs->running_tasks */
    struct queued queued;     /* place in the queue of the scheduler */

    struct link watches;              /* list of struct watch */
    struct dependents *dependents;    /* after.c: jobs that wait for this one; null: none */
    struct dependency *dependencies;  /* after.c: one for each job of `after` that had not ended */
    uint32_t dependency_count, waits; /* waits: dependencies that are not settled yet */

    int first_channel; /* -1: not started yet */
    uint64_t lost;     /* watchdog.lost at the time when the transfer was started */
    mli_mov_handle_t handle;
    const int8_t
        *dst_data;  /* address of the destination's first element; not valid after the run */
    int32_t cookie; /* cookie of the callback, for completions.c */
    /* Members owned by the thread that completes the transfer, while the task runs: */
    struct task_end end;
    struct task *ended_before; /* next entry in the list of ended tasks, for completions.c */
};

/** Creates a task of a session and charges it to the session's flow. NULL: out of memory. */
struct task *task_create(struct session *session);
/** Gives the task its number and name, so that refs_find() finds it. Its state is WAITING. */
void task_accept(struct task *task);
/** Frees the task and all that it holds. Its transfer must not be running. Accepts NULL. */
void task_destroy(struct task *task);

/** Sets the state and counts the task in it. */
void task_become(struct task *task, enum job_state state);

/** Takes the task out of its session, so that jobs_callbacks.ended is not called for the task. */
void task_leave_session(struct task *task);

/** Sets the time limit, counted from the arrival of the job; 0: no limit. */
void task_set_timeout(struct task *task, uint32_t timeout_ms);

/**
 * Ends the task, successfully if `fault` is null, and reports the end to all who wait for the task
 * (see the head of this file). Call it exactly once for each task.
 */
void task_end(struct task *task, const struct fault *fault);
/**
 * Ends the task in any state. Destroys it, unless it is running: then its transfer is cancelled and
 * destroys it later. Call dispatch_run() afterwards.
 */
void task_abort(struct task *task, const struct fault *fault);

/**
 * Cancels the task for a client. A running task ends when its transfer has stopped, any other one
 * at once. Call dispatch_run() afterwards.
 */
void task_cancel(struct task *task);

static inline uint32_t task_channels(const struct task *task)
{
    return task->work->job.common.channels;
}

/*
 * Returns the nanoseconds in the queue and on channels, up to `now` for a task that has not ended.
 */
static inline uint64_t task_ns_queued(const struct task *task, uint64_t now)
{
    return (task->end.started ? task->end.started : now) - task->admitted;
}

static inline uint64_t task_ns_moving(const struct task *task, uint64_t now)
{
    return task->end.started ? now - task->end.started : 0;
}

/** Returns a lower bound of the bytes that a running task has written; 0 in other states. */
uint64_t task_bytes_done(const struct task *task);

#endif /* DAEMON_TASK_H */
