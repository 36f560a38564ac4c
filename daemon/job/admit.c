/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/admit.h"

#include <inttypes.h>

#include "daemon/job/after.h"
#include "daemon/job/deadline.h"
#include "daemon/job/dispatch.h"
#include "daemon/job/jobs.h"
#include "daemon/job/locate.h"
#include "daemon/job/task.h"
#include "proto/json/json.h"
#include "proto/wire/job.h"

int admit_check_serving(const struct jobs *jobs, struct fault *fault)
{
    if (jobs->stopping)
        return fault_set(fault, FAULT_SHUTTING_DOWN, NULL, "the service is shutting down");
    if (jobs->draining)
        return fault_set(fault, FAULT_SHUTTING_DOWN, NULL,
                         "the service is %s and takes no new jobs",
                         jobs->count > 0 ? "draining" : "drained");
    return 0;
}

int admit_check_channels(const struct jobs *jobs, const struct job *job, struct fault *fault)
{
    if (job->common.channels <= jobs->config->channels)
        return 0;
    return fault_set(fault, FAULT_LIMIT, "/channels",
                     "channels: %" PRIu32 " given; the service has %" PRIu32
                     " (option --channels of mlid, and of mlictl run and batch)",
                     job->common.channels, jobs->config->channels);
}

static int locate(struct task *task, const int *fds, size_t count, struct fault *fault)
{
    struct board_use use;
    const struct located_job located = {
        .job = &task->work->job,
        .operands = &task->work->operands,
        .buffers = &task->session->buffers,
        .fds = fds,
        .fd_count = count,
        .bytes_max = task->jobs->config->job_bytes,
        .uid = task->flow->user->uid,
        .user = PLACES_OF_JOB,
        /* task_accept() gives the task the next number, before another job arrives. */
        .board = session_use_board(task->session, BOARD_JOB, task->jobs->last_job + 1, &use),
    };

    return locate_job(&task->places, &located, fault);
}

static int fill(struct task *task, const struct json *params, const int *fds, size_t count)
{
    struct fault *fault = params->fault;
    struct job *job;

    task->work = work_create();
    if (!task->work)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for a job");
    job = &task->work->job;
    if (job_wire_read(params, (uint32_t)count, job) < 0 ||
        admit_check_channels(task->jobs, job, fault) < 0 ||
        operands_init(&task->work->operands, job, fault) < 0 ||
        locate(task, fds, count, fault) < 0 ||
        after_init(task, task->session, &job->after, fault) < 0)
        return -1;
    task->priority = job->common.priority;
    task->detached = job->detach;
    task_set_timeout(task, job->common.timeout_ms);
    return 0;
}

struct task *admit(struct session *session, const struct json *params, const int *fds, size_t count)
{
    struct task *task;

    if (admit_check_serving(session->jobs, params->fault) < 0)
        return NULL;
    task = task_create(session);
    if (!task) {
        fault_set(params->fault, FAULT_INTERNAL, NULL, "no memory for a job");
        return NULL;
    }
    if (fill(task, params, fds, count) < 0) {
        task_destroy(task);
        return NULL;
    }
    return task;
}

void admit_accept(struct task *task)
{
    task_accept(task);
    deadline_add(&task->jobs->deadlines, task);
    if (task->waits == 0)
        dispatch_queue(task);
    events_send(task->jobs, task, EVENT_QUEUED, NULL);
}
