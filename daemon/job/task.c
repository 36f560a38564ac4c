/* SPDX-License-Identifier: BSD-3-Clause */
#include "task.h"

#include <assert.h>
#include <stdlib.h>

#include "client.h"
#include "deadline.h"
#include "log.h"
#include "seam.h"
#include "state.h"

struct task *task_create(struct client *client)
{
    struct task *task = seam.calloc(1, sizeof *task);

    if (!task)
        return NULL;
    task->service = client->service;
    task->client = client;
    task->admitted = uv_hrtime();
    task->src_guard.slot = task->dst_guard.slot = -1;
    job_init(&task->job);
    link_init(&task->queue_link);
    link_init(&task->deadline_link);
    link_append(&client->tasks, &task->client_link);
    client->jobs++;
    task->service->jobs++;
    return task;
}

void task_orphan(struct task *task)
{
    link_remove(&task->client_link);
    task->client->jobs--;
    task->client = NULL;
    task->answer.client = NULL;
}

void task_destroy(struct task *task)
{
    struct service *service;
    struct client *client;

    if (!task)
        return;
    assert(task->state != TASK_RUNNING);
    service = task->service;
    client = task->client;
    if (task->state == TASK_QUEUED)
        queue_remove(&service->queue, task);
    deadline_remove(&service->deadlines, task);
    if (client)
        task_orphan(task);
    mapping_finish(&task->src);
    mapping_finish(&task->dst);
    operands_finish(&task->operands);
    job_finish(&task->job);
    free(task);

    service->jobs--;
    if (client)
        client_task_gone(client);
    service_settle(service);
}

bool task_log_begin(struct log_line *line, int level, const char *event, const struct task *task)
{
    if (!log_begin(line, level, event))
        return false;
    client_log(line, task->client);
    if (task->job.name)
        log_text(line, "job", task->job.name);
    return true;
}

static void log_failure(const struct task *task, const struct fault *fault)
{
    struct log_line line;

    if (!task_log_begin(&line, LOG_NOTICE, "job failed", task))
        return;
    log_text(&line, "error", fault_name(fault->code));
    log_text(&line, "text", fault->text);
    log_end(&line);
}

void task_give_up(struct task *task, const struct fault *fault)
{
    deadline_remove(&task->service->deadlines, task);
    if (!task->answer.due)
        return;
    log_failure(task, fault);
    answer_fault(&task->answer, fault);
    task->service->jobs_failed++;
}

void task_fail(struct task *task, const struct fault *fault)
{
    task_give_up(task, fault);
    task_destroy(task);
}
