/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for the end of a task: job.wait. after.c has the jobs that depend on it. */
#ifndef DAEMON_WATCH_H
#define DAEMON_WATCH_H

#include <stdint.h>

#include "daemon/base/link.h"
#include "proto/wire/job_info.h"
#include "proto/wire/job_result.h"

struct task;

/* How a task has ended. All of it is borrowed, for the time of the call. */
struct ending {
    const struct task *task;
    enum job_state state;
    const struct job_result *result; /* of one that is done */
    const struct fault *fault;       /* of one that is not */
    uint64_t when;                   /* uv_hrtime() */
    uint64_t bytes_done;             /* written for sure */
};

/*
 * Called once, when the task has ended; the watch is out of the ring by then. It must not end or
 * destroy tasks right there: a chain of them would become a chain of calls.
 */
struct watch {
    struct link link;
    void (*ended)(struct watch *watch, const struct ending *ending);
};

#endif /* DAEMON_WATCH_H */
