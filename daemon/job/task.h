/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that was admitted: its tensors, the memory they lie in, and who waits for it.
 *
 *     task_create   queue_push     dispatch_run           complete.c          task_destroy
 *      (admit) ----> queued -----> running -----> (channels) -----> answered ----> gone
 *                      |  deadline, shutdown, client gone                           ^
 *                      +------------------------------------------------------------+
 *
 * A running task that meets one of these is answered at once, if anybody is left to answer, and its
 * transfer is cancelled; the rest follows when that has ended.
 *
 * Only while it runs does another thread touch it: the one that completes its transfer, once, and
 * then only what is marked as its.
 */
#ifndef DAEMON_TASK_H
#define DAEMON_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "answer.h"
#include "link.h"
#include "mapping.h"
#include "operands.h"
#include "sigbus.h"

struct client;
struct log_line;
struct service;

/* How its transfer went. complete.c writes it. */
struct task_end {
    const char *obstacle;      /* null: it ran; else why it did not. Static storage */
    mli_mov_status_t transfer; /* where it ran */
    bool src_hit, dst_hit;     /* a file shrank, or its storage failed */
    uint64_t started, done;    /* uv_hrtime() */
};

enum task_state { TASK_NEW, TASK_QUEUED, TASK_RUNNING };

struct task {
    struct service *service;
    struct client *client; /* null: it has left */
    enum task_state state;
    struct answer answer;
    struct job job;
    struct operands operands;
    uint64_t admitted; /* uv_hrtime() */
    uint64_t deadline; /* uv_hrtime(); 0: none */
    struct link client_link, queue_link, deadline_link;

    mli_mov_handle_t handle;
    int32_t cookie; /* complete.c: of the callback */
    /* Of the thread that completes the transfer, while running: */
    struct mapping src, dst;
    struct sigbus_guard src_guard, dst_guard;
    struct task_end end;
    struct task *ended_before; /* complete.c: the list of those that ended */
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
