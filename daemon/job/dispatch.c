/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/dispatch.h"

#include <inttypes.h>
#include <stdio.h>

#include "daemon/job/after.h"
#include "daemon/job/completions.h"
#include "daemon/job/jobs.h"
#include "daemon/job/locate.h"
#include "daemon/job/task.h"
#include "daemon/job/watchdog.h"
#include "mli_helpers_api.h"

void dispatch_queue(struct task *task)
{
    struct jobs *jobs = task->jobs;
    struct user *user = task->flow->user;
    const struct quota *quota = config_quota(jobs->config, user->uid);
    int32_t max = quota->max_priority;

    if (max == QUOTA_BY_USER)
        max = user->master ? 1 : 0;
    user->share.weight = quota->weight;
    task_become(task, JOB_STATE_QUEUED);
    scheduler_push(&jobs->scheduler, &task->flow->lanes, &task->queued, task->priority, max,
                   task->work->operands.bytes, jobs->clock);
}

static void fail_for_channels(struct task *task)
{
    const struct channels *channels = &task->jobs->channels;
    struct fault fault;

    fault_set(&fault, FAULT_CHANNEL_STUCK, "/channels",
              "channels: %" PRIu32 " neighbouring channels are needed, but only %" PRIu32
              " of %" PRIu32 " are in service; the others are stuck",
              task_channels(task), channels_count(channels->pool & ~channels->quarantined),
              channels_count(channels->pool));
    task_abort(task, &fault);
}

static void refuse(struct task *task, mli_status status)
{
    struct fault fault;

    fault_set_refused(&fault, status, mli_last_error());
    task_abort(task, &fault);
}

static void run(struct task *task, int first)
{
    struct jobs *jobs = task->jobs;
    bool at_once;

    task_become(task, JOB_STATE_RUNNING);
    task->first_channel = first;
    jobs->running++;
    jobs->channels.busy |= channels_run((uint32_t)first, task_channels(task));
    link_append(&jobs->running_tasks, &task->place);
    task->lost = jobs->watchdog.lost;
    at_once = completions_start(task);
    events_send(jobs, task, EVENT_STARTED, NULL);
    if (at_once)
        completions_collect(&jobs->completions);
    if (!link_empty(&jobs->running_tasks))
        watchdog_start(&jobs->watchdog);
}

/*
 * Has libmli check all arguments, before anything is written. A permute is prepared as a move that
 * only permutes: operands_init() has checked the further conditions of mli_krn_permute_*(), a
 * kernel for the type, and a destination of that type and of the permuted shape.
 */
static mli_status prepare(struct task *task)
{
    struct operands *operands = &task->work->operands;
    mli_tensor src, dst;
    mli_status status;

    locate_tensors(&task->places, operands, &src, &dst);
    status = mli_mov_prepare(&task->handle, &src, &task->work->job.common.cfg, &dst);
    if (status != MLI_STATUS_OK)
        return status;
    task->dst_data = dst.data.mem.pi8;
    if (!task->work->prepared)
        operands->dst = dst;
    return MLI_STATUS_OK;
}

/* Returns true if the client has left and is about to drop the task. */
static bool is_dropped(const struct task *task)
{
    return task->session && task->session->closing;
}

static void drop(struct task *task)
{
    struct fault fault;

    fault_set(&fault, FAULT_CANCELLED, NULL, "the client has left");
    task_abort(task, &fault);
}

static void start(struct task *task, int first)
{
    mli_status status;

    if (is_dropped(task)) {
        drop(task);
        return;
    }
    status = mli_mov_acquire_handle_at(first, (int)task_channels(task), &task->handle);

    if (status != MLI_STATUS_OK) {
        /* Other code in this process holds the channels. */
        refuse(task, status);
        return;
    }
    status = prepare(task);
    if (status == MLI_STATUS_OK) {
        run(task, first);
        return;
    }
    mli_mov_release_handle(&task->handle);
    refuse(task, status);
}

/* Reserves channels for the wide job that waits longest, or starts it. Returns false if no wide job
 * was started or ended. */
static bool serve_wide(struct jobs *jobs)
{
    struct channels *channels = &jobs->channels;
    struct task *task;
    int first;

    if (link_empty(&jobs->wide)) {
        channels->reserved = 0;
        return false;
    }
    task = LINK_OWNER(jobs->wide.next, struct task, place);
    if (!channels_reserve(channels, task_channels(task))) {
        fail_for_channels(task);
        return true;
    }
    first = channels_find(channels, task_channels(task), true);
    if (first < 0)
        return false;
    channels->reserved = 0;
    link_remove(&task->place);
    start(task, first);
    return true;
}

/* Takes the next task of the queue. Returns false if the queue is empty or no channel is free. */
static bool serve_next(struct jobs *jobs, uint64_t now)
{
    struct channels *channels = &jobs->channels;
    struct queued *queued;
    struct task *task;
    int first;

    if (!channels_any_free(channels) && channels_widest(channels) > 0)
        return false;
    queued = scheduler_take(&jobs->scheduler, now);
    if (!queued) {
        if (jobs->scheduler.undecided)
            completions_resume(&jobs->completions); /* goes on in the next round of the loop */
        return false;
    }
    task = LINK_OWNER(queued, struct task, queued);
    first = channels_find(channels, task_channels(task), false);
    if (first >= 0)
        start(task, first);
    else if (task_channels(task) > channels_widest(channels))
        fail_for_channels(task);
    else
        link_append(&jobs->wide, &task->place);
    return true;
}

/* The transfers that the first wide job waits for, without backfilled transfers. */
struct blockers {
    const struct channels *channels;
    const struct user *owner; /* user who owns the wide job */
    uint64_t bytes;           /* the highest number of bytes that a transfer has left */
    bool any, of_others;      /* any transfer; a transfer of a user other than the owner */
};

static uint64_t bytes_left(const struct task *task)
{
    const uint64_t done = task_bytes_done(task), all = task->work->operands.bytes;

    return task->ended || done >= all ? 0 : all - done;
}

static struct blockers find_blockers(const struct jobs *jobs)
{
    const struct channels *channels = &jobs->channels;
    const struct task *wide = LINK_OWNER(jobs->wide.next, struct task, place);
    struct blockers blockers = {.channels = channels, .owner = wide->flow->user};

    for (struct link *l = jobs->running_tasks.next; l != &jobs->running_tasks; l = l->next) {
        const struct task *task = LINK_OWNER(l, struct task, place);
        const uint32_t run = channels_run((uint32_t)task->first_channel, task_channels(task));
        const uint64_t left = bytes_left(task);

        if (!(run & channels->reserved) || (run & channels->backfilled))
            continue;
        blockers.any = true;
        blockers.of_others |= task->flow->user != blockers.owner;
        if (left > blockers.bytes)
            blockers.bytes = left;
    }
    return blockers;
}

static bool ends_before(const struct task *task, const struct blockers *blockers)
{
    return task->work->operands.bytes <= blockers->bytes;
}

/* Estimates times by bytes. If the wide job waits only for transfers of its own user, jobs of other
 * users may have the channels meanwhile. */
static bool fits(struct queued *queued, const void *context)
{
    const struct blockers *blockers = context;
    const struct task *task = LINK_OWNER(queued, struct task, queued);

    if (channels_find(blockers->channels, task_channels(task), true) < 0)
        return false;
    if (!blockers->of_others && task->flow->user != blockers->owner)
        return true;
    return ends_before(task, blockers);
}

/*
 * Backfilling: starts a job on channels that are reserved for a wide job, if the job is expected to
 * end before the transfers that the wide job waits for. Backfilled transfers do not count among
 * those transfers: otherwise they would make room for further backfilled transfers, and the wide
 * job would never start.
 */
static bool serve_backfill(struct jobs *jobs, uint64_t now)
{
    struct channels *channels = &jobs->channels;
    struct blockers blockers;
    struct queued *queued;
    struct task *task;
    int first;

    if (!channels_any_reserved_free(channels) || jobs->scheduler.length == 0)
        return false;
    blockers = find_blockers(jobs);
    if (!blockers.any)
        return false;
    queued = scheduler_backfill(&jobs->scheduler, fits, &blockers, now);
    if (!queued)
        return false;
    task = LINK_OWNER(queued, struct task, queued);
    first = channels_find(channels, task_channels(task), true);
    if (ends_before(task, &blockers))
        channels->backfilled |= channels_run((uint32_t)first, task_channels(task));
    start(task, first);
    channels->backfilled &= channels->busy; /* the task may have ended at once */
    return true;
}

void dispatch_run(struct jobs *jobs)
{
    const uint64_t begin = jobs->clock;

    if (jobs->dispatching || jobs->stopping)
        return;
    jobs->dispatching = true;
    do {
        after_settle(jobs);
        if (jobs->clock - begin > CHORE_TURN_NS) {
            completions_resume(&jobs->completions);
            break;
        }
        if (serve_wide(jobs) || serve_next(jobs, jobs->clock) || serve_backfill(jobs, jobs->clock))
            continue;
        if (link_empty(&jobs->settling))
            break;
        if (jobs->clock - begin > CHORE_SLICE_NS) {
            completions_resume(&jobs->completions);
            break;
        }
    } while (true);
    jobs->dispatching = false;
}

static void fault_set_dma_error(struct fault *fault, const struct task *task)
{
    const mli_mov_status_t *transfer = &task->end.transfer;
    char place[40] = "";

    /* The destination is unmapped by now, so subtract addresses as numbers, not as pointers. */
    if (transfer->address)
        snprintf(place, sizeof place, " at byte %" PRIu64 " of dst",
                 (uint64_t)((uintptr_t)transfer->address - (uintptr_t)task->dst_data));
    fault_set(fault, FAULT_DMA_ERROR, NULL,
              "DMA channel %" PRIu32 " failed%s: descriptor %" PRIu32 " (%s), row %" PRIu64
              "; at least %" PRIu64 " of %" PRIu64 " B are written",
              transfer->channel, place, transfer->descriptor,
              transfer->descriptor == 0 ? "copy" : "zero fill", transfer->row, transfer->bytes,
              transfer->bytes_total);
}

/* Returns true with *fault filled if the transfer failed. */
static bool failure(const struct task *task, struct fault *fault)
{
    const struct task_end *end = &task->end;

    if (end->src_hit)
        fault_set(fault, FAULT_IO_ERROR, "/src",
                  "src: file shrank while the job ran, or its storage failed");
    else if (end->dst_hit)
        fault_set(fault, FAULT_IO_ERROR, "/dst",
                  "dst: storage failed or file shrank while the job ran");
    else if (end->obstacle)
        fault_set(fault, FAULT_INTERNAL, NULL, "%s", end->obstacle);
    else if (end->transfer.code == MLI_STATUS_CANCELLED)
        fault_set(fault, FAULT_CANCELLED, NULL, "the job was cancelled");
    else if (end->transfer.code != MLI_STATUS_OK)
        fault_set_dma_error(fault, task);
    else
        return false;
    return true;
}

void dispatch_done(struct task *task)
{
    struct jobs *jobs = task->jobs;
    struct fault fault;

    channels_release(&jobs->channels,
                     channels_run((uint32_t)task->first_channel, task_channels(task)));
    link_remove(&task->place);
    task_become(task, JOB_STATE_DONE);
    jobs->running--;
    if (task->end.done > jobs->clock)
        jobs->clock = task->end.done;
    watchdog_remove(&jobs->watchdog);
    mli_mov_release_handle(&task->handle);
    if (!task->ended)
        task_end(task, failure(task, &fault) ? &fault : NULL);
    task_destroy(task);
    dispatch_run(jobs);
}
