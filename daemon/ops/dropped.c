/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/ops/dropped.h"

#include "daemon/base/log.h"
#include "daemon/job/task.h"
#include "daemon/service_state.h"

static bool goes(const struct task *task, bool running_too)
{
    return !task->ended && (running_too || task->state != JOB_STATE_RUNNING);
}

static void log_flow(const struct flow *flow)
{
    struct log_line line;

    if (!log_begin(&line, LOG_WARNING, "jobs dropped"))
        return;
    log_uint(&line, "client", flow->number);
    log_uint(&line, "pid", (uint64_t)flow->pid);
    log_uint(&line, "uid", flow->user->uid);
    log_uint(&line, "jobs", flow->dropped);
    log_end(&line);
}

void dropped_log(const struct service *service, bool running_too)
{
    const struct link *head = &service->tasks;

    for (struct link *l = head->next; l != head; l = l->next) {
        struct task *task = LINK_OWNER(l, struct task, all_link);

        task->flow->dropped += goes(task, running_too);
    }
    for (struct link *l = head->next; l != head; l = l->next) {
        struct flow *flow = LINK_OWNER(l, struct task, all_link)->flow;

        if (flow->dropped > 0)
            log_flow(flow);
        flow->dropped = 0;
    }
}
