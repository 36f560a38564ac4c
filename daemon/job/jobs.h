/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job room: everything between a request for a job and the end of the job. It knows nothing of
 * sockets and replies. daemon/net asks for jobs and learns of their ends by callbacks.
 *
 *     net: request --> admit.c or prepared.c    checks, maps the memory, makes a task
 *                      after.c                  waits for the jobs in "after"
 *                      dispatch.c               queues (scheduler.c), chooses channels (channels.c)
 *                      completions.c            starts the transfer; libmli's callback ends it
 *     net: reply   <-- task.c: task_end()       calls jobs_callbacks.ended, keeps a record
 *
 * target_board.c loads the target profile; memories.c checks its rules for the tensors of a job.
 * deadline.c and watchdog.c end tasks that take too long. refs.c finds the job of a request.
 *
 * To add a kind of job, start in operands.c (what the job reads and writes) and locate.c (where).
 * To add a limit or a check of jobs, start in admit.c.
 * To add an event, start in job_events.h.
 *
 * Everything here belongs to the loop's thread; completions.c says where other threads come in.
 */
#ifndef DAEMON_JOBS_H
#define DAEMON_JOBS_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/base/chores.h"
#include "daemon/base/link.h"
#include "daemon/config/config.h"
#include "daemon/job/channels.h"
#include "daemon/job/completions.h"
#include "daemon/job/deadline.h"
#include "daemon/job/history.h"
#include "daemon/job/job_events.h"
#include "daemon/job/prepared.h"
#include "daemon/job/registry.h"
#include "daemon/job/scheduler.h"
#include "daemon/job/user.h"
#include "daemon/job/watchdog.h"
#include "daemon/memory/buffer.h"
#include "proto/wire/daemon_calls.h"

struct ending;
struct session;
struct task;

/* Callbacks by which the job room answers. daemon/net sets them. */
struct jobs_callbacks {
    /** Bytes of the structure that begins with a struct task: the room above adds what it needs. */
    size_t task_size;
    /**
     * The task of a session has ended; its client has no answer yet. Must not end or destroy tasks:
     * a chain of tasks would become a chain of calls.
     */
    void (*ended)(struct task *task, const struct ending *ending);
    /** A task is destroyed. `session` is null for a task that no connection waits for. */
    void (*gone)(void *context, struct session *session);
    /** An event of a kind given to events_subscribe(). The callback may set event->dropped. */
    void (*event)(void *context, const struct task *task, struct event *event);
    void *context;
};

/* A connection as the job room sees it: the owner of jobs, buffers and prepared jobs. */
struct session {
    struct jobs *jobs;
    struct flow *flow; /* held */
    struct buffers buffers;
    struct prepared_jobs prepared;
    struct link tasks;   /* tasks that end when the connection ends */
    uint32_t task_count; /* number of tasks in `tasks` */
    bool closing; /* true: the client reads no more replies, and its tasks are dropped when their
                     turn comes */
};

/* Counts of jobs since the start. */
struct totals {
    uint64_t submitted, done, failed, cancelled, refused, bytes_moved;
};

/* Numbers of jobs that have not ended, by state, so that daemon.stats need not look at each job. */
struct job_counts {
    uint32_t waiting, queued[LANE_PRIORITIES], running;
};

struct jobs {
    uv_loop_t *loop;
    const struct config *config;
    struct jobs_callbacks callbacks;
    struct chores *chores;

    struct board *board; /* memories of the target profile; null: the service has no profile */

    bool draining; /* true: daemon.drain was called; no new jobs until daemon.resume */
    bool stopping; /* true: jobs_stop() was called; no new jobs are taken, and no job is started */

    struct users users;
    struct registry registry; /* registry of tasks and records */
    struct history history;
    struct chore trimming; /* trims the history after a reload */
    uint64_t last_job;     /* the latest job number that was given */
    struct link tasks;     /* all tasks */
    uint32_t count;        /* number of tasks in `tasks` */
    struct job_counts counts;
    uint32_t prepared;    /* number of prepared jobs of all connections */
    struct link settling; /* after.c: dependents of jobs that have ended */
    struct chore ending;  /* ends tasks after jobs_stop() */
    uint32_t to_end;      /* number of tasks that `ending` has not looked at */
    struct link dropped;  /* flows (struct flow) that have lost jobs and are not logged yet */

    struct scheduler scheduler;
    struct link wide;          /* tasks that wait for enough neighbouring channels, in order */
    struct link running_tasks; /* tasks on channels */
    uint32_t running;          /* number of tasks in `running_tasks` */
    struct channels channels;
    bool dispatching; /* true: dispatch_run() is on the stack */
    struct watchdog watchdog;
    struct deadlines deadlines;
    struct completions completions;
    uint64_t clock; /* the latest uv_hrtime() that was read: nearly now, and free */

    struct totals totals;
    struct histogram queued, moving; /* times of jobs in the queue and on channels, in ns */
    struct job_events events;
};

/**
 * Initialises an empty room. The channels must have been taken (dma_pool.h). *config must outlive
 * the room; call jobs_reconfigure() when *config changes. Returns 0, or -errno with nothing to
 * close.
 */
int jobs_init(struct jobs *jobs, uv_loop_t *loop, const struct config *config,
              struct chores *chores);
/** Begins to close the handles; no task may be left. *jobs must stay until the loop has run the
 * close callbacks. */
void jobs_close(struct jobs *jobs);
/** Frees the records and users. Call it after the close callbacks. */
void jobs_finish(struct jobs *jobs);

/** Applies a changed *config to later jobs and to the number of records. */
void jobs_reconfigure(struct jobs *jobs);

/**
 * Takes no new jobs and starts none. Ends all tasks that are not running with SHUTTING_DOWN, in
 * slices of the loop's time, and logs a line for each connection that loses jobs.
 */
void jobs_stop(struct jobs *jobs);

/** After jobs_stop(): ends all tasks at once, also those that are running. */
void jobs_end_all(struct jobs *jobs);

static inline bool jobs_are_taken(const struct jobs *jobs)
{
    return !jobs->stopping && !jobs->draining;
}

/** Returns the phase that clients see: serving, draining or drained. */
static inline enum service_phase jobs_phase(const struct jobs *jobs)
{
    if (jobs_are_taken(jobs))
        return PHASE_SERVING;
    return jobs->count > 0 ? PHASE_DRAINING : PHASE_DRAINED;
}

/** Sends an event if a subscriber or the trace wants events of this kind. `ending` as in
 * events_fill(). */
static inline void events_send(struct jobs *jobs, const struct task *task, enum event_kind kind,
                               const struct ending *ending)
{
    if (jobs->events.wanted >> kind & 1)
        events_spread(jobs, task, kind, ending);
}

/** Returns whether a connection may have one more job now. Returns true also if the job would be
 * refused. */
bool jobs_have_room(const struct jobs *jobs, const struct flow *flow);

/** Initialises the session of a new connection. Returns 0, or -1 if out of memory. */
int session_init(struct session *session, struct jobs *jobs, uint64_t number,
                 const struct peer *peer);
/** Fills *use with the service's board, the session's client and user, and the user's quota. */
void session_fill_use(const struct session *session, struct board_use *use);
/** Releases the session's flow; the session must have no tasks, prepared jobs or buffers. */
void session_finish(struct session *session);
/**
 * Fills *use for a holder of this session. Returns `use`, or NULL if the service has no board.
 */
static inline struct board_use *session_use_board(const struct session *session,
                                                  enum board_kind kind, uint64_t number,
                                                  struct board_use *use)
{
    if (!session->jobs->board)
        return NULL;
    session_fill_use(session, use);
    use->holder.kind = kind;
    use->holder.number = number;
    return use;
}
/**
 * Adds a record of a refused job and gives it a job number, so that the job's name no longer finds
 * an earlier job. If out of memory for the record, the name finds no job.
 */
void session_remember_refused(struct session *session, const char *name, const struct fault *fault);

#endif /* DAEMON_JOBS_H */
