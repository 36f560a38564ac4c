/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemon/job: everything between a request for a job and the end of the job. It knows nothing of
 * sockets and replies. daemon/net asks for jobs and learns of their ends by callbacks.
 *
 *     net: request --> jobs.c or prepared.c     checks, maps the memory, makes a task
 *                      task.c                   waits for the jobs in "after"
 *                      dispatch.c               queues (scheduler.c), chooses channels (channels.c)
 *                      completions.c            starts the transfer; libmli's callback ends it
 *     net: reply   <-- task.c: task_end()       calls jobs_callbacks.ended, keeps a record
 *
 * A file calls only files below it: jobs.c, prepared.c, dispatch.c, task.c, completions.c, and the
 * files with headers of their own. hardware.c takes the channels and loads the target profile.
 *
 * To add a kind of job, start in operands.c (the bytes that the job reads and writes) and locate.c
 * (the memory that has these bytes).
 * To add a limit or a check of jobs, start in jobs.c: admit().
 * To add an event, add it to EVENT_TABLE (proto/wire/events.h), send it with events_send() where it
 * happens, and describe it in proto/PROTOCOL.md.
 *
 * Everything here belongs to the loop's thread, except what struct completions describes.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/base/chores.h"
#include "daemon/base/link.h"
#include "daemon/base/numbered.h"
#include "daemon/config/config.h"
#include "daemon/job/channels.h"
#include "daemon/job/history.h"
#include "daemon/job/operands.h"
#include "daemon/job/scheduler.h"
#include "daemon/job/user.h"
#include "daemon/memory/buffer.h"
#include "mli_mov_api.h"
#include "proto/json/fault.h"
#include "proto/wire/events.h"
#include "proto/wire/job.h"
#include "proto/wire/methods.h"

struct dependency;
struct dependents;
struct job_start;
struct jobs;
struct json;
struct session;
struct trace;

/*
 * A task: a job that was admitted, with its memory, until its transfer has ended.
 *
 *     task_create  task_accept   task_queue     dispatch.c    completions.c
 *      (admit) -----> waiting -----> queued -----> running -----> (channels) -----> task_destroy
 *                        |             |              |                |                ^
 *                        +-------------+--------------+--- task_end ---+----------------+
 *
 * task_end() reports the end to all of these: the client, watchers, subscribers, dependents,
 * history and statistics. If a running task is given up (deadline, cancel, watchdog), it ends at
 * once, and it is destroyed when its transfer has stopped. A task belongs to the loop's thread.
 * While the task runs, the thread that completes its transfer owns `end` and `ended_before`.
 */

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
 * the watch has left the task's list. For a flow, `ended` is called each time that one of its tasks
 * ends, and may then remove the watch. `ended` must not end or destroy tasks: a chain of tasks
 * would become a chain of calls.
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

    struct link all_link;     /* link in the list jobs->tasks */
    struct link flow_link;    /* link in the list flow->tasks, until the task has ended */
    struct link session_link; /* link in the list session->tasks */
    uint32_t deadline_place;  /* index in the heap of deadlines, from 1; 0: not in the heap */
    struct link place;        /* link in the list jobs->wide or jobs->running_tasks */
    struct queued queued;     /* entry in the queue of the scheduler */

    struct link watches;              /* list of struct watch */
    struct dependents *dependents;    /* jobs that wait for this job; null: none */
    struct dependency *dependencies;  /* one for each job in "after" that had not ended */
    uint32_t dependency_count, waits; /* waits: dependencies that are not settled yet */

    int first_channel; /* first channel of the task; -1: not started yet */
    uint64_t lost;     /* watchdog.lost at the time when the transfer was started */
    mli_mov_handle_t handle;
    /* Address of the destination's first element; not valid after the run. */
    const int8_t *dst_data;
    int32_t cookie; /* cookie of the callback, for completions.c */
    /* Members owned by the thread that completes the transfer, while the task runs: */
    struct task_end end;
    /* Next entry in the list of ended tasks (completions.c) or in jobs->spares. */
    struct task *ended_before;
};

/*
 * Prepared jobs: checked once and started many times. Each start makes a task that shares the work
 * and holds the memory. So the task continues even if the prepared job is released before its end.
 */
struct prepared {
    uint32_t number;
    struct work *work; /* held */
    struct places places;
};

/* Maximum bytes of the per-axis parameters in the prepared jobs of one connection. A short request
 * may describe many parameters. */
enum { PREPARED_PARAMETERS_MAX = 4 * 1024 * 1024 };

/* A connection's prepared jobs. A struct of zeros is an empty set. */
struct prepared_jobs {
    struct numbered table; /* table of struct prepared */
    uint64_t parameters;   /* bytes of per-axis parameters */
};

/* A connection, as daemon/job sees it: the owner of jobs, buffers and prepared jobs. */
struct session {
    struct jobs *jobs;
    struct flow *flow; /* held */
    struct buffers buffers;
    struct prepared_jobs prepared;
    struct link tasks;   /* tasks that end when the connection ends */
    uint32_t task_count; /* number of tasks in `tasks` */
    bool closing;        /* true: the connection ends, and its tasks are dropped in slices */
};

/* The position of a reference to a job in the params. */
struct ref_place {
    const char *member;
    int index; /* index in the member, if it is an array; -1: the member is not an array */
};

/* The position as texts "/after/3" and "after[3]", for faults. */
struct ref_words {
    char pointer[32], name[32];
};

/* The parts of struct jobs. */

/* Callbacks through which daemon/job reports to daemon/net. daemon/net sets them. */
struct jobs_callbacks {
    /** Size of the structure that begins with a struct task: daemon/net appends its own members. */
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

/*
 * Events of jobs (queued, started, progress, done) for subscribers and for the trace. Each kind is
 * sent from one place with events_send(), which costs one branch if the kind is not wanted.
 */
struct job_events {
    uint32_t wanted;     /* kinds that a subscriber or the trace wants: bit 1 << enum event_kind */
    uint32_t subscribed; /* kinds of events that a subscriber wants */
    struct trace *trace; /* null: no trace */
};

/*
 * Deadlines of tasks: a binary heap with the next deadline first, and one timer, which runs only
 * while the heap has tasks.
 */
struct deadlines {
    struct task **heap;
    uint32_t count, capacity;
    uint64_t armed; /* uv_hrtime() at which the timer fires; UINT64_MAX: stopped */
    uv_timer_t timer;
    uv_timer_cb passed; /* called at the first deadline */
};

/*
 * Starts transfers, and reports their ends to the loop's thread. In daemon/job, only completions.c
 * shares data between the loop's thread and other threads.
 *
 *     loop's thread       completions_start() ......................... completions_take()
 *                             | mli_mov_start()                               ^ async handle:
 *                             v                                               | the whole list
 *     completing thread   channels at work ---> callback: notes the end, -----+
 *                                               unmaps, appends to the list
 *
 * The completing thread depends on the engine. It is a thread of the channel, or the loop's thread
 * inside mli_mov_start(), mli_mov_cancel() or mli_mov_poll(). Both use the same list, so that these
 * functions never call the rest of the daemon.
 */
struct completions {
    uv_async_t ended;   /* sent for new tasks in the list; keeps the loop alive while tasks run */
    uv_idle_t poll;     /* drives an engine that makes progress only when polled, while tasks run */
    uint32_t running;   /* tasks that were started and are not handed back yet */
    uv_thread_t thread; /* thread of the loop */
    bool starting; /* true: completions_start() is on the stack, and reads the list afterwards */
    _Atomic(struct task *) list; /* ended tasks, the latest first; any thread may add one */
};

/*
 * The watchdog ends tasks whose transfers take too long, and puts their stuck channels into
 * quarantine: out of service for a while, and until the transfer has ended. Its timer runs only
 * while there are transfers or channels to watch. It fires several times within a limit: if it is
 * late, the process was stopped (SIGSTOP, a debugger) or starved, and that time does not count.
 */
struct watchdog {
    uv_timer_t timer;
    uint64_t armed; /* uv_hrtime() at which the timer fires; UINT64_MAX: stopped */
    uint64_t lost;  /* total lateness of the timer in nanoseconds */
    uint64_t back[MLI_MOV_MAX_CHANNELS]; /* the earliest end of each channel's quarantine */
};

/* Counts of jobs since the start of the service. */
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
    struct task *spares;   /* free list of tasks, linked by ended_before; only task.c uses it */
    uint32_t spare_count;
    struct job_counts counts;
    uint32_t prepared;    /* number of prepared jobs of all connections */
    struct link settling; /* dependents of jobs that have ended */
    struct chore ending;  /* the chore that ends all tasks after jobs_stop() */
    uint32_t to_end;      /* number of tasks that this chore must still look at */
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
    uint64_t clock; /* result of the latest uv_hrtime(): nearly the current time, without a call */

    struct totals totals;
    struct histogram queued, moving; /* times of jobs in the queue and on channels, in ns */
    struct job_events events;
};

/* jobs.c */

/**
 * Initialises *jobs without jobs. The channels must have been taken (hardware.h). *config must
 * outlive *jobs; call jobs_reconfigure() when *config changes. Returns 0, or -errno with nothing to
 * close.
 */
int jobs_init(struct jobs *jobs, uv_loop_t *loop, const struct config *config,
              struct chores *chores);
/** Begins to close the handles; no task may be left. *jobs must stay until the loop has run the
 * close callbacks. */
void jobs_close(struct jobs *jobs);
/** Frees the records and users. Call it after the close callbacks. */
void jobs_finish(struct jobs *jobs);

/** Applies a changed *config to later jobs, and deletes records beyond a lowered limit. */
void jobs_reconfigure(struct jobs *jobs);

/**
 * Takes and starts no new jobs. Ends all tasks that are not running with SHUTTING_DOWN, in
 * slices of the loop's time, and logs a line for each connection that loses jobs.
 */
void jobs_stop(struct jobs *jobs);

/** After jobs_stop(): ends all tasks at once, including running tasks. */
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

/** Returns whether the service would handle the next job of a connection now. False: the limits on
 * jobs are reached, and the job must wait. A service that refuses all jobs handles them now. */
bool jobs_have_room(const struct jobs *jobs, const struct flow *flow);

/** Initialises the session of a new connection. Returns 0, or -1 if out of memory. */
int session_init(struct session *session, struct jobs *jobs, uint64_t number,
                 const struct credentials *peer);
/** Releases the session's flow; the session must have no tasks, prepared jobs or buffers. */
void session_finish(struct session *session);
/**
 * Adds a record of a refused job and gives it a job number, so that the job's name no longer finds
 * an earlier job. If out of memory for the record, the name finds no job.
 */
void session_remember_refused(struct session *session, const char *name, const struct fault *fault);

/**
 * Makes every check that is possible before the job's turn comes, and maps its memory. Changes
 * nothing that a client can see. The caller keeps the descriptors and may close them. Returns NULL
 * with the fault of `params` filled if the job is refused.
 */
struct task *admit(struct session *session, const struct json *params, const int *fds,
                   size_t count);

/**
 * Accepts the task: gives it a number, and queues it or makes it wait for other jobs. Call
 * dispatch_run() afterwards.
 */
void admit_accept(struct task *task);

/* Checks shared by job.submit, job.prepare and job.start. Return 0, or -1 with *fault filled. */
int admit_check_serving(const struct jobs *jobs, struct fault *fault);
int admit_check_channels(const struct jobs *jobs, const struct job *job, struct fault *fault);

/* prepared.c */

/** Releases the latest prepared job. If there is none, frees the table and returns false. */
bool prepared_release_last(struct session *session);

/**
 * Prepares a job (job.prepare): makes every check that a start would make, and maps the
 * descriptors. The caller keeps the descriptors. Returns NULL with the fault of `params` filled.
 */
struct prepared *prepared_create(struct session *session, const struct json *params, const int *fds,
                                 size_t count);

/** Makes a task of a prepared job (job.start), as admit() does. Returns NULL with *fault filled. */
struct task *prepared_start(struct session *session, const struct job_start *start,
                            struct fault *fault);

/** Releases a prepared job. Returns 0, or -1 if the session has no such prepared job. */
int prepared_release(struct session *session, uint32_t number);

/* dispatch.c */

/** Opens the handles. Returns 0, or -errno with nothing to close. */
int dispatch_init(struct jobs *jobs, uv_loop_t *loop);
/** Begins to close the handles; no task may be left. */
void dispatch_close(struct jobs *jobs);
/**
 * Starts queued tasks while there are free channels, and ends dependents of failed tasks.
 * Call it from the loop after every change of jobs or channels. Does nothing in a nested call.
 */
void dispatch_run(struct jobs *jobs);
/** Ends the quarantine of all channels that are not busy. */
void dispatch_pardon(struct jobs *jobs);

/* task.c */

/** Creates a task of a session and charges it to the session's flow. Returns NULL with *fault
 * filled if out of memory. */
struct task *task_create(struct session *session, struct fault *fault);
/** Gives the task its number and name, so that refs_find() finds it. Its state is WAITING. */
void task_accept(struct task *task);
/** Queues an accepted task without open dependencies. Call dispatch_run() afterwards. */
void task_queue(struct task *task);
/** Frees the task and all that it holds. Its transfer must not be running. Accepts NULL. */
void task_destroy(struct task *task);
/** Frees the memory that is kept for later tasks. */
void tasks_finish(struct jobs *jobs);

/** Sets the state and counts the task in it. */
void task_become(struct task *task, enum job_state state);

/** Removes the task from its session, so that jobs_callbacks.ended is not called for the task. */
void task_leave_session(struct task *task);

/** Sets the time limit, counted from the arrival of the job; 0: no limit. */
void task_set_timeout(struct task *task, uint32_t timeout_ms);

/**
 * Ends the task, successfully if `fault` is null, and reports the end as the comment on struct task
 * describes. Call it exactly once for each task.
 */
void task_end(struct task *task, const struct fault *fault);
/**
 * Ends the task in any state. Destroys it, unless it is running: then its transfer is cancelled and
 * destroys it later. Call dispatch_run() afterwards.
 */
void task_abort(struct task *task, const struct fault *fault);

/** Cancels the transfer of a running task, which then ends soon like any other transfer. Does
 * nothing for a task that is not running. */
void task_stop(struct task *task);
/**
 * Cancels the task for a client. A running task ends when its transfer has stopped, any other task
 * at once. Call dispatch_run() afterwards.
 */
void task_cancel(struct task *task);

static inline uint32_t task_channels(const struct task *task)
{
    return task->work->job.common.channels;
}

/* Return the task's time in the queue and on channels, in ns: until `now` at most. */
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

void ref_place_words(const struct ref_place *place, struct ref_words *words);

/**
 * Returns the job that `ref` names. Returns NULL with *fault filled if there is no such job, or the
 * session's user may not see it.
 */
struct entry *refs_find(const struct session *session, const struct job_ref *ref,
                        const struct ref_place *place, struct fault *fault);

/** Returns whether a user may see a job: root sees all jobs, other users their own. */
bool refs_visible(const struct user *viewer, const struct entry *entry);

/** Return the task or the record that embeds the entry, or NULL if the other kind embeds it. */
struct task *entry_task(const struct entry *entry);
const struct record *entry_record(const struct entry *entry);

enum job_state entry_state(const struct entry *entry);
/** Fills *info; its pointers point into the task or record of the entry. */
void entry_info(const struct entry *entry, struct job_info *info);

/**
 * Fills *info with the state of a task at the time `now` (uv_hrtime()), or with its end if `ending`
 * is not null. Asks libmli for the progress of the transfer only if `ask` is true.
 */
void task_info(const struct task *task, const struct ending *ending, uint64_t now, bool ask,
               struct job_info *info);

/**
 * "after": makes a task, which is not accepted yet, wait for the jobs of `refs` that have not
 * ended. Returns 0, or -1 with *fault filled if a job is not known, has failed or was cancelled.
 */
int after_init(struct task *task, const struct session *session, const struct job_refs *refs,
               struct fault *fault);

/**
 * Takes up to 16 tasks that wait for a task that has ended: queues them, or ends them if that task
 * failed. Sets jobs->clock. Call it until jobs->settling is empty, because other tasks may wait for
 * the tasks that it ends.
 */
void after_settle(struct jobs *jobs);

/** `passed` is called at the first deadline, and must call deadlines_expire(). */
void deadlines_init(struct deadlines *deadlines, uv_loop_t *loop, uv_timer_cb passed);
/** Begins to close the timer; the heap must be empty. The struct must stay until the loop has
 * closed the timer. */
void deadlines_close(struct deadlines *deadlines);

/** Ends tasks whose deadline has passed, for up to CHORE_TURN_NS. Then call dispatch_run(). */
void deadlines_expire(struct deadlines *deadlines);
/** Makes sure that the heap has memory for `count` tasks. Returns 0, or -1 if out of memory. */
int deadlines_reserve(struct deadlines *deadlines, uint32_t count);
/** Adds a task, which is ended at task->deadline. Does nothing if the deadline is 0. */
void deadline_add(struct deadlines *deadlines, struct task *task);
/** Removes a task; does nothing if it is not in the heap. */
void deadline_remove(struct deadlines *deadlines, struct task *task);

/** Makes the jobs call jobs_callbacks.event for events of these kinds from now on. */
void events_subscribe(struct job_events *events, uint32_t kinds);
/** Writes events to a trace from now on. The trace must outlive the jobs or be replaced by null. */
void events_set_trace(struct job_events *events, struct trace *trace);

/** Fills an event. `ending` is null unless the kind is EVENT_DONE. */
void events_fill(struct event *event, const struct task *task, enum event_kind kind,
                 const struct ending *ending);
/** Fills and sends an event. Use events_send(). */
void events_spread(struct jobs *jobs, const struct task *task, enum event_kind kind,
                   const struct ending *ending);

/** Sends an event if a subscriber or the trace wants events of this kind. `ending` as in
 * events_fill(). */
static inline void events_send(struct jobs *jobs, const struct task *task, enum event_kind kind,
                               const struct ending *ending)
{
    if (jobs->events.wanted >> kind & 1)
        events_spread(jobs, task, kind, ending);
}

/* locate.c */

/* A job, and the data that locate_job() needs to find its tensors. */
struct located_job {
    const struct session *session;
    const struct work *work;
    const int *fds;
    size_t fd_count;
    enum places_user user;
};

/**
 * Maps the descriptors, finds the buffers, and checks that they have all bytes that the job reads
 * and writes, and that source and destination do not overlap. Places tensors in memories of the
 * board. Returns 0, or -1 with *fault filled. *places must be empty; call places_finish() even on
 * failure.
 */
int locate_job(struct places *places, const struct located_job *job, struct fault *fault);
/** Like locate_job(), for a start of a prepared job. The prepared job has fixed the addresses of
 * its tensors in memories of the board. */
int locate_start(struct places *places, const struct session *session,
                 const struct prepared *prepared, const struct job_start *start,
                 struct fault *fault);
/** Fills *src and *dst for libmli from the operands and their memory. */
void locate_tensors(const struct places *places, const struct operands *operands, mli_tensor *src,
                    mli_tensor *dst);
/**
 * Describes in *use which object of this session uses memory of the board: the job, buffer or
 * prepared job with this number. Returns `use`, or NULL if the service has no board.
 */
struct board_use *session_use_board(const struct session *session, enum board_kind kind,
                                    uint64_t number, struct board_use *use);

/* completions.c */

/**
 * Initialises the completions; the engine must be set already. The loop calls `on_ended` when tasks
 * have ended and after completions_resume(). Returns 0, or -errno with nothing to close.
 */
int completions_init(struct jobs *jobs, uv_loop_t *loop, uv_async_cb on_ended);
/** Begins to close the handles; no task may be running. The struct must stay until the loop has
 * closed them. */
void completions_close(struct completions *completions);

/**
 * Starts the task's prepared transfer. Returns true if tasks have ended already, as a tiny transfer
 * does: taking them then saves a round of the loop.
 */
bool completions_start(struct task *task);

/** Returns the tasks that have ended since the last call, linked by ended_before, the task
 * that ended first at the front. The caller ends each with completions_end(). */
struct task *completions_take(struct completions *completions);
/** Ends the transfer of a task that completions_take() returned: sets task->end.transfer. */
void completions_end(struct task *task);

/** Makes the loop call `on_ended` after its other work. Called on the loop's thread. */
void completions_resume(struct completions *completions);
