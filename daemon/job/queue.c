/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue.h"

#include "task.h"

void queue_init(struct queue *queue)
{
    for (int i = 0; i < QUEUE_PRIORITIES; i++)
        link_init(&queue->tasks[i]);
    queue->length = 0;
}

void queue_push(struct queue *queue, struct task *task)
{
    link_append(&queue->tasks[task->job.priority + 1], &task->queue_link);
    queue->length++;
}

struct task *queue_head(struct queue *queue)
{
    for (int i = QUEUE_PRIORITIES; i-- > 0;) {
        if (!link_empty(&queue->tasks[i]))
            return LINK_OWNER(queue->tasks[i].next, struct task, queue_link);
    }
    return NULL;
}

void queue_remove(struct queue *queue, struct task *task)
{
    link_remove(&task->queue_link);
    queue->length--;
}
