/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that was admitted: its tensors, the memory they lie in, and who waits for it.
 *
 *     task_create   queue_push     dispatch_run          complete.c          task_destroy
 *      (admit) ----> queued -----> running -----> (worker) -----> answered ----> gone
 *                      |  deadline, shutdown, client gone                         ^
 *                      +----------------------------------------------------------+
 *
 * Only while it runs does another thread (the worker) touch it, and then only what is marked so.
 */
#ifndef DAEMON_TASK_H
#define DAEMON_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "answer.h"
#include "link.h"
#include "mapping.h"
#include "operands.h"

struct client;
struct log_line;
struct service;

/* What the worker reports. */
struct task_end {
    mli_status status;
    char error[FAULT_TEXT_MAX]; /* mli_last_error() of the worker's thread */
    bool unguarded;             /* it did not run: no guard was free */
    bool src_hit, dst_hit;      /* a file shrank, or its storage failed */
    uint64_t started, done;     /* uv_hrtime() */
};

enum task_state { TASK_NEW, TASK_QUEUED, TASK_RUNNING };

struct task {
    struct service *service;
    struct client *client; /* null: it has left */
    enum task_state state;
    struct answer answer;
    struct job job;
    struct operands operands; /* the worker's while running */
    struct mapping src, dst;  /* the worker's while running */
    mli_mov_handle_t handle;  /* the worker's while running */
    struct task_end end;      /* the worker's while running */
    uint64_t admitted;        /* uv_hrtime() */
    uint64_t deadline;        /* uv_hrtime(); 0: none */
    struct link client_link, queue_link, deadline_link;
    uv_work_t work;
};

/** For `client`, who is charged with it from now on. Null where memory is short. */
struct task *task_create(struct client *client);
/** Releases everything, and the charge. Not while it runs. Null is fine. */
void task_destroy(struct task *task);

/** The client has left: nobody is told how the task ends. */
void task_orphan(struct task *task);

/** Begins a log line about the task and its client. */
bool task_log_begin(struct log_line *line, int level, const char *event, const struct task *task);

/** Answers with a fault and counts it; whatever comes of the task later is told to nobody. */
void task_give_up(struct task *task, const struct fault *fault);
/** Gives the task up and destroys it. */
void task_fail(struct task *task, const struct fault *fault);

#endif /* DAEMON_TASK_H */
