/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/watchdog.h"

#include <inttypes.h>

#include "daemon/base/log.h"
#include "daemon/job/dispatch.h"
#include "daemon/job/jobs.h"
#include "daemon/job/task.h"

enum { NS_PER_MS = 1000 * 1000, BEATS = 8 /* beats of the timer in a limit */, BEAT_MS_MAX = 1000 };

static void on_timer(uv_timer_t *timer);

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
static void arm(struct watchdog *watchdog, uint64_t when)
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
        uv_timer_start(&watchdog->timer, on_timer,
                       when > now ? (when - now + NS_PER_MS - 1) / NS_PER_MS : 0, 0);
    }
    watchdog->armed = when;
}

/* Returns the start of a transfer, plus the time for which the process was stopped since. */
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

            /* 0 means: the transfer has ended just now, and the loop will collect it. */
            if (stuck)
                give_up(watchdog, task, stuck);
        }
    }
}

static void look_after_channels(struct watchdog *watchdog, uint64_t now)
{
    struct channels *channels = &jobs_of(watchdog)->channels;
    const uint32_t waiting = channels->quarantined & ~channels->busy;
    struct log_line line;

    for (uint32_t i = 0; i < MLI_MOV_MAX_CHANNELS; i++) {
        if (!(waiting >> i & 1) || watchdog->back[i] > now)
            continue;
        channels->quarantined &= ~channels_run(i, 1);
        if (log_begin(&line, LOG_WARNING, "channel back in service")) {
            log_uint(&line, "channel", i);
            log_end(&line);
        }
    }
}

/* Counts the delay of a timer that is late by more than a beat: the loop could not run. */
static void count_lost(struct watchdog *watchdog)
{
    const uint64_t now = uv_hrtime();

    if (now > watchdog->armed && now - watchdog->armed > beat_of(jobs_of(watchdog)->config))
        watchdog->lost += now - watchdog->armed;
    watchdog->armed = UINT64_MAX;
}

static void on_timer(uv_timer_t *timer)
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
    arm(watchdog, next);
}

void watchdog_init(struct watchdog *watchdog, uv_loop_t *loop)
{
    *watchdog = (struct watchdog){.armed = UINT64_MAX};
    uv_timer_init(loop, &watchdog->timer); /* cannot fail */
    watchdog->timer.data = watchdog;
}

void watchdog_close(struct watchdog *watchdog)
{
    uv_close((uv_handle_t *)&watchdog->timer, NULL);
}

void watchdog_start(struct watchdog *watchdog)
{
    const struct config *config = jobs_of(watchdog)->config;

    /* The first beat computes the next limit; no limit ends before it. */
    if (watchdog->armed == UINT64_MAX && config->watchdog.limit_ms > 0)
        arm(watchdog, uv_hrtime() + beat_of(config));
}

void watchdog_remove(struct watchdog *watchdog)
{
    const struct jobs *jobs = jobs_of(watchdog);

    if (jobs->channels.quarantined != 0)
        arm(watchdog, next_time(watchdog));
    else if (watchdog->armed != UINT64_MAX && link_empty(&jobs->running_tasks))
        arm(watchdog, UINT64_MAX);
}

void watchdog_pardon(struct watchdog *watchdog)
{
    look_after_channels(watchdog, UINT64_MAX);
    watchdog_remove(watchdog);
}
