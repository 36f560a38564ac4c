/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that must be answered by a certain time. One timer, which runs only while there are any. */
#ifndef DAEMON_DEADLINE_H
#define DAEMON_DEADLINE_H

#include <uv.h>

#include "link.h"

struct task;

struct deadlines {
    struct link tasks;
    uint64_t armed; /* when the timer fires, uv_hrtime(); UINT64_MAX: it does not run */
    uv_timer_t timer;
};

void deadlines_init(struct deadlines *deadlines, uv_loop_t *loop);
/** Begins to close; the memory must stay until the loop has run on. */
void deadlines_close(struct deadlines *deadlines);

/** The task must be answered at task->deadline; a task without one is left alone. */
void deadline_add(struct deadlines *deadlines, struct task *task);
/** Harmless where it is not there. */
void deadline_remove(struct deadlines *deadlines, struct task *task);

#endif /* DAEMON_DEADLINE_H */
