/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/flow.h"

#include <stdlib.h>

#include "daemon/base/seam.h"

struct flow *flow_create(struct users *users, uint64_t number, pid_t pid, uid_t uid)
{
    struct flow *flow = seam.calloc(1, sizeof *flow);

    if (!flow)
        return NULL;
    flow->user = user_hold(users, uid);
    if (!flow->user) {
        free(flow);
        return NULL;
    }
    flow->number = number;
    flow->pid = pid;
    flow->account.parent = &flow->user->account;
    flow->holders = 1;
    link_init(&flow->tasks);
    link_init(&flow->subscribers);
    lanes_init(&flow->lanes, &flow->user->share);
    return flow;
}

void flow_hold(struct flow *flow)
{
    flow->holders++;
}

void flow_drop(struct flow *flow)
{
    if (--flow->holders > 0)
        return;
    user_drop(flow->user);
    free(flow);
}
