/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses which queued task starts next and on which channels, ends the tasks whose transfers have
 * ended, and takes stuck channels out of service.
 */
#include <inttypes.h>
#include <stdio.h>

#include "daemon/base/log.h"
#include "daemon/job/jobs.h"
#include "mli_helpers_api.h"

/* The watchdog. */

enum {
    NS_PER_MS = 1000 * 1000,
    BEATS = 8 /* number of timer beats within one limit */,
    BEAT_MS_MAX = 1000
};

static void on_watchdog(uv_timer_t *timer);

static struct jobs *jobs_of(struct watchdog *watchdog)
{
    return LINK_OWNER(watchdog, struct jobs, watchdog);
}

/* Returns the longest time in ns for which the timer sleeps. */
static uint64_t beat_of(const struct config *config)
{
    const uint64_t ms = config->watchdog.limit_ms / BEATS;

    return (ms < 1 ? 1 : ms < BEAT_MS_MAX ? ms : BEAT_MS_MAX) * NS_PER_MS;
}

/*
 * Arms the timer for `when` or for the next beat, whichever is earlier. With UINT64_MAX, stops the
 * timer.
 */
static void arm_watchdog(struct watchdog *watchdog, uint64_t when)
{
    const uint64_t now = uv_hrtime();

    if (when == UINT64_MAX) {
        if (watchdog->armed != UINT64_MAX)
            uv_timer_stop(&watchdog->timer);
    } else {
        const uint64_t beat = now + beat_of(jobs_of(watchdog)->config);

        if (when > beat)
            when = beat;
        uv_update_time(
            watchdog->timer.loop); /* the timer counts from the loop's time, which may be old */
        uv_timer_start(&watchdog->timer, on_watchdog,
                       when > now ? (when - now + NS_PER_MS - 1) / NS_PER_MS : 0, 0);
    }
    watchdog->armed = when;
}

/* Returns the start of a transfer, plus the time for which the process was stopped since then. */
static uint64_t start_of(const struct task *task)
{
    return task->end.started + task->jobs->watchdog.lost - task->lost;
}

/* Returns the time at which a transfer has taken too long; UINT64_MAX: never. */
static uint64_t limit_of(const struct task *task)
{
    const struct config *config = task->jobs->config;
    const uint64_t bytes = task->work->operands.touched;

    if (config->watchdog.limit_ms == 0 || task->ended)
        return UINT64_MAX;
    return start_of(task) + (uint64_t)config->watchdog.limit_ms * NS_PER_MS +
           bytes / config->watchdog.bytes_per_second * 1000 * NS_PER_MS;
}

/* Returns the next time at which a limit or a quarantine may end. */
static uint64_t next_time(struct watchdog *watchdog)
{
    struct jobs *jobs = jobs_of(watchdog);
    const uint32_t waiting = jobs->channels.quarantined & ~jobs->channels.busy;
    uint64_t next = UINT64_MAX;

    for (struct link *l = jobs->running_tasks.next; l != &jobs->running_tasks; l = l->next) {
        const struct task *task = LINK_OWNER(l, struct task, place);

        if (limit_of(task) < next)
            next = limit_of(task);
    }
    for (int i = 0; i < MLI_MOV_MAX_CHANNELS; i++) {
        if ((waiting >> i & 1) && watchdog->back[i] < next)
            next = watchdog->back[i];
    }
    return next;
}

/* Returns the channels of the task that have unfinished work. */
static uint32_t stuck_channels(const struct task *task)
{
    const uint32_t first = (uint32_t)task->first_channel;
    uint32_t stuck = 0;

    for (uint32_t i = first; i < first + task_channels(task); i++) {
        mli_mov_channel_stats stats;

        if (mli_mov_get_channel_stats((int)i, &stats) == MLI_STATUS_OK &&
            stats.submitted > stats.completed + stats.failed + stats.cancelled)
            stuck |= channels_run(i, 1);
    }
    return stuck;
}

static void quarantine(struct watchdog *watchdog, uint32_t stuck)
{
    struct jobs *jobs = jobs_of(watchdog);
    const uint64_t back = uv_hrtime() + (uint64_t)jobs->config->watchdog.quarantine_ms * NS_PER_MS;
    struct log_line line;

    jobs->channels.quarantined |= stuck;
    for (uint32_t i = 0; i < MLI_MOV_MAX_CHANNELS; i++) {
        if (!(stuck >> i & 1))
            continue;
        watchdog->back[i] = back;
        if (log_begin(&line, LOG_ERR, "channel stuck")) {
            log_uint(&line, "channel", i);
            log_uint(&line, "quarantine_ms", jobs->config->watchdog.quarantine_ms);
            log_end(&line);
        }
    }
}

static void give_up(struct watchdog *watchdog, struct task *task, uint32_t stuck)
{
    const uint64_t ms = (uv_hrtime() - start_of(task)) / NS_PER_MS;
    struct fault fault;

    quarantine(watchdog, stuck);
    fault_set(&fault, FAULT_CHANNEL_STUCK, NULL,
              "DMA channel %d did not end its transfer within %" PRIu64
              " ms and was taken out of service",
              __builtin_ctz(stuck), ms);
    task_abort(task, &fault);
}

static void look_after_tasks(struct watchdog *watchdog)
{
    struct jobs *jobs = jobs_of(watchdog);
    const uint64_t now = uv_hrtime();

    for (struct link *l = jobs->running_tasks.next, *next; l != &jobs->running_tasks; l = next) {
        struct task *task = LINK_OWNER(l, struct task, place);

        next = l->next;
        if (limit_of(task) <= now) {
            const uint32_t stuck = stuck_channels(task);

            /* No stuck channel: the transfer has ended just now, and the loop will collect it. */
            if (stuck)
                give_up(watchdog, task, stuck);
        }
    }
}

static void look_after_channels(struct watchdog *watchdog, uint64_t now)
{
    struct channels *channels = &jobs_of(watchdog)->channels;
    const uint32_t waiting = channels->quarantined & ~channels->busy;

    for (uint32_t i = 0; i < MLI_MOV_MAX_CHANNELS; i++) {
        if (!(waiting >> i & 1) || watchdog->back[i] > now)
            continue;
        channels->quarantined &= ~channels_run(i, 1);
        log_one_uint(LOG_WARNING, "channel back in service", "channel", i);
    }
}

/* Adds the delay of a timer that is late by more than a beat to `lost`: the loop could not run. */
static void count_lost(struct watchdog *watchdog)
{
    const uint64_t now = uv_hrtime();

    if (now > watchdog->armed && now - watchdog->armed > beat_of(jobs_of(watchdog)->config))
        watchdog->lost += now - watchdog->armed;
    watchdog->armed = UINT64_MAX;
}

/* Starts watching the running tasks; at least one task must be running. */
static void watchdog_start(struct watchdog *watchdog)
{
    const struct config *config = jobs_of(watchdog)->config;

    /* The timer's first call computes the next limit, which cannot have passed before. */
    if (watchdog->armed == UINT64_MAX && config->watchdog.limit_ms > 0)
        arm_watchdog(watchdog, uv_hrtime() + beat_of(config));
}

/* Handles the end of a transfer, after its channels were freed. */
static void watchdog_remove(struct watchdog *watchdog)
{
    const struct jobs *jobs = jobs_of(watchdog);

    if (jobs->channels.quarantined != 0)
        arm_watchdog(watchdog, next_time(watchdog));
    else if (watchdog->armed != UINT64_MAX && link_empty(&jobs->running_tasks))
        arm_watchdog(watchdog, UINT64_MAX);
}

/* Starting tasks. */

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

static void collect(struct jobs *jobs);

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
        collect(jobs);
    if (!link_empty(&jobs->running_tasks))
        watchdog_start(&jobs->watchdog);
}

/*
 * Has libmli check all arguments, before anything is written. A permute is prepared as a move that
 * only permutes. operands_init() has checked what mli_krn_permute_*() also requires: a kernel for
 * the type, and a destination of that type and of the permuted shape.
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
            completions_resume(&jobs->completions); /* continues in the next round of the loop */
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
    uint64_t bytes;           /* the largest number of bytes that a transfer still has to move */
    bool any;                 /* true: a transfer runs on a channel that the wide job needs */
    bool of_others;           /* true: one of the transfers belongs to another user than `owner` */
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

/* Returns whether a job may be backfilled. Estimates times by bytes. If the wide job waits only for
 * transfers of its own user, a job of another user may take longer than these transfers. */
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
 * those transfers: otherwise they would make space for further backfilled transfers, and the wide
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
    channels->backfilled &=
        channels->busy; /* the task may have ended already and freed its channels */
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

/* Ends a task after its transfer: frees its channels and destroys it. */
static void done(struct task *task)
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

/* Ends all tasks whose transfers have ended. */
static void collect(struct jobs *jobs)
{
    struct task *task = completions_take(&jobs->completions), *next;

    for (; task; task = next) {
        next = task->ended_before;
        completions_end(task);
        done(task);
    }
}

/* The events of the loop. */

/*
 * Handles all tasks that have ended: libuv may call this once for several uv_async_send(). Tasks
 * that end during the call have to wait for the next call, because the loop has other work too.
 */
static void on_ended(uv_async_t *ended)
{
    struct jobs *jobs = ended->data;

    collect(jobs);
    dispatch_run(jobs);
}

static void on_deadline(uv_timer_t *timer)
{
    struct jobs *jobs = LINK_OWNER(timer->data, struct jobs, deadlines);

    deadlines_expire(&jobs->deadlines);
    dispatch_run(jobs); /* an expired task may have blocked the queue */
}

static void on_watchdog(uv_timer_t *timer)
{
    struct watchdog *watchdog = timer->data;
    uint64_t next;

    count_lost(watchdog);
    look_after_tasks(watchdog);
    look_after_channels(watchdog, uv_hrtime());
    dispatch_run(jobs_of(watchdog));
    next = next_time(watchdog);
    /* Gives the loop time to collect a transfer that has just ended. */
    if (next != UINT64_MAX && next <= uv_hrtime())
        next = uv_hrtime() + NS_PER_MS;
    arm_watchdog(watchdog, next);
}

void dispatch_pardon(struct jobs *jobs)
{
    look_after_channels(&jobs->watchdog, UINT64_MAX);
    watchdog_remove(&jobs->watchdog);
}

int dispatch_init(struct jobs *jobs, uv_loop_t *loop)
{
    const int error = completions_init(jobs, loop, on_ended);

    if (error < 0)
        return error;
    deadlines_init(&jobs->deadlines, loop, on_deadline);
    jobs->watchdog = (struct watchdog){.armed = UINT64_MAX};
    uv_timer_init(loop, &jobs->watchdog.timer); /* cannot fail */
    jobs->watchdog.timer.data = &jobs->watchdog;
    return 0;
}

void dispatch_close(struct jobs *jobs)
{
    deadlines_close(&jobs->deadlines);
    uv_close((uv_handle_t *)&jobs->watchdog.timer, NULL);
    completions_close(&jobs->completions);
}
