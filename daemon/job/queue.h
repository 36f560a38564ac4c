/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which task is next. Higher priorities first, and in the order of arrival within one. The rest of
 * the daemon knows only these functions, so that the policy can change behind them.
 */
#ifndef DAEMON_QUEUE_H
#define DAEMON_QUEUE_H

#include <stdint.h>

#include "link.h"

struct task;

enum { QUEUE_PRIORITIES = 3 }; /* -1, 0 and 1 */

struct queue {
    struct link tasks[QUEUE_PRIORITIES];
    uint32_t length;
};

void queue_init(struct queue *queue);
void queue_push(struct queue *queue, struct task *task);
/** The next task, which stays queued; null where there is none. */
struct task *queue_head(struct queue *queue);
void queue_remove(struct queue *queue, struct task *task);

#endif /* DAEMON_QUEUE_H */
