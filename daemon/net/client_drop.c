/* SPDX-License-Identifier: BSD-3-Clause */
/* Drops the jobs, prepared jobs and buffers of a client that has left. */
#include "daemon/net/client.h"

#include "daemon/job/completions.h"
#include "daemon/job/dispatch.h"
#include "daemon/job/task.h"
#include "daemon/net/net.h"
#include "daemon/net/pending.h"
#include "daemon/net/submit.h"

/* Cancels running jobs at once, not in slices: other jobs may wait for the channels. */
static void cancel_running(struct client *client)
{
    struct link *running = &client->net->jobs->running_tasks;

    for (struct link *l = running->next; l != running; l = l->next) {
        struct task *task = LINK_OWNER(l, struct task, place);

        if (task->session != &client->session)
            continue;
        submission_leave(task);
        if (!task->ended) /* if the task has ended, its transfer is cancelled already */
            completions_cancel(task);
    }
}

/* Drops a job, else a prepared job, else a buffer. Returns false if the client has nothing left. */
static bool drop_one(struct client *client, const struct fault *fault)
{
    struct task *task;

    if (link_empty(&client->session.tasks))
        return prepared_release_last(&client->session) ||
               buffer_release_last(&client->session.buffers);
    task = LINK_OWNER(client->session.tasks.next, struct task, session_link);
    submission_leave(task);
    if (!task->ended)
        task_abort(task, fault);
    return true;
}

/* Drops jobs, prepared jobs and buffers for a slice of time. Returns whether the client has nothing
 * left. */
static bool drop_slice(struct client *client)
{
    const uint64_t begin = uv_hrtime();
    bool more;
    struct fault fault;

    fault_set(&fault, FAULT_CANCELLED, NULL, "the client has left");
    do
        more = drop_one(client, &fault);
    while (more && uv_hrtime() - begin < CHORE_SLICE_NS);
    dispatch_run(
        client->net->jobs); /* starts other jobs, and ends dependents of the dropped jobs */
    return !more;
}

static void on_dropping(struct chore *chore)
{
    struct client *client = LINK_OWNER(chore, struct client, dropping);

    if (!drop_slice(client))
        chore_add(client->net->chores, chore);
    else if (client->state == CLIENT_CLOSED)
        client_release(client);
}

void client_drop_init(struct client *client)
{
    chore_init(&client->dropping, on_dropping);
}

void client_drop_all(struct client *client)
{
    subscriptions_remove(client);
    pending_drop_all(&client->pending);
    if (chore_queued(&client->dropping))
        return;
    cancel_running(client);
    if (!drop_slice(client))
        chore_add(client->net->chores, &client->dropping);
}
