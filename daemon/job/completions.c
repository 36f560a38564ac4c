/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <time.h>

#include "daemon/job/jobs.h"
#include "mli_mov_api.h"

enum {
    POLL_PAUSE_NS = 50 * 1000, /* sleep of the loop after a poll without progress */
    FRESH_MIN = 128 * 1024     /* bytes; MLI_MOV_FRESH_DST saves no time for smaller destinations */
};

/*
 * Running tasks, by the cookie of their callbacks. The loop's thread sets an entry before it starts
 * the transfer and clears it when the callback has returned. Each running task has at least one
 * channel of the process's only pool (hardware.h), so that there are enough entries.
 */
static struct task *running[MLI_MOV_MAX_CHANNELS];

static int32_t add_running(struct task *task)
{
    int32_t cookie = 0;

    while (running[cookie]) {
        cookie++;
        assert(cookie < MLI_MOV_MAX_CHANNELS);
    }
    running[cookie] = task;
    return cookie;
}

static bool on_loop(const struct completions *completions)
{
    const uv_thread_t self = uv_thread_self();

    return uv_thread_equal(&self, &completions->thread);
}

/* Appends a task that has ended to the list, for the loop's thread. */
static void hand_over(struct task *task)
{
    struct completions *completions = &task->jobs->completions;
    struct task *latest = atomic_load_explicit(&completions->list, memory_order_relaxed);
    /* Do not wake the loop inside completions_start(): its caller reads the list afterwards. */
    const bool seen = on_loop(completions) && completions->starting;

    do
        task->ended_before = latest;
    while (!atomic_compare_exchange_weak_explicit(&completions->list, &latest, task,
                                                  memory_order_release, memory_order_relaxed));
    /* completions_end() waits for the return of this call before it frees the task. */
    if (!seen)
        uv_async_send(&completions->ended);
}

/* Ends the task's use of its regions. Called on any thread. */
static void end(struct task *task)
{
    const bool loop = on_loop(&task->jobs->completions);

    /* Unmap on this thread, so that the files are unmapped before the client gets its reply. */
    task->end.src_hit = region_end(task->places.src.region, false, loop) < 0;
    task->end.dst_hit = region_end(task->places.dst.region, true, loop) < 0;
    task->end.done = uv_hrtime();
    hand_over(task);
}

/* libmli's completion callback. Runs on the completing thread. */
static void on_transfer_done(int32_t cookie)
{
    end(running[cookie]);
}

/*
 * Begins to use the task's regions. Returns false if a file has shrunk before. A thread that
 * accesses the memory must not block SIGBUS: threads of engines do not block it, and creating the
 * regions has unblocked it in this thread, which runs tiny transfers.
 */
static bool begin(struct task *task)
{
    struct task_end *end = &task->end;

    end->src_hit = region_begin(task->places.src.region, false) < 0;
    if (end->src_hit)
        return false;
    end->dst_hit = region_begin(task->places.dst.region, true) < 0;
    if (end->dst_hit)
        end->src_hit = region_end(task->places.src.region, false, true) < 0;
    return !end->dst_hit;
}

/*
 * Hints to libmli that the pages of an exclusive destination were not accessed yet, and that the
 * loop's thread must not access files that are not in memory.
 */
static bool set_hints(struct task *task)
{
    const struct region *src = task->places.src.region, *dst = task->places.dst.region;
    uint32_t hints = 0;

    if (dst->exclusive && dst->size >= FRESH_MIN)
        hints |= MLI_MOV_FRESH_DST;
    if (src->slow || dst->slow)
        hints |= MLI_MOV_SLOW_MEMORY;
    return hints == 0 || mli_mov_set_hints(&task->handle, hints) == MLI_STATUS_OK;
}

static bool start_transfer(struct task *task)
{
    return set_hints(task) &&
           mli_mov_registercallback(&task->handle, on_transfer_done, task->cookie) ==
               MLI_STATUS_OK &&
           mli_mov_start(&task->handle, NULL, NULL, NULL) == MLI_STATUS_OK;
}

/* Drives a device that must be polled, and sleeps if it makes no progress. */
static void on_idle(uv_idle_t *poll)
{
    const struct timespec pause = {.tv_nsec = POLL_PAUSE_NS};

    (void)poll;
    if (mli_mov_poll() == 0)
        nanosleep(&pause, NULL);
}

bool completions_start(struct task *task)
{
    struct completions *completions = &task->jobs->completions;

    if (completions->running++ == 0) {
        uv_ref((uv_handle_t *)&completions->ended);
        if (mli_mov_is_polled())
            uv_idle_start(&completions->poll, on_idle);
    }
    task->cookie = add_running(task);
    task->end.started = uv_hrtime();
    completions->starting = true;
    if (!begin(task)) {
        task->end.done = task->end.started;
        hand_over(task);
    } else if (!start_transfer(task)) {
        task->end.obstacle = "the transfer could not be started";
        end(task);
    }
    completions->starting = false;
    return atomic_load_explicit(&completions->list, memory_order_relaxed) != NULL;
}

struct task *completions_take(struct completions *completions)
{
    struct task *latest = atomic_exchange_explicit(&completions->list, NULL, memory_order_acquire);
    struct task *first = NULL;

    while (latest) {
        struct task *before = latest->ended_before;

        latest->ended_before = first;
        first = latest;
        latest = before;
    }
    return first;
}

void completions_end(struct task *task)
{
    struct completions *completions = &task->jobs->completions;

    /*
     * Wait until the callback has returned: only then may cookie, handle and service be reused or
     * freed. Usually it has returned already.
     */
    (void)mli_mov_synchronise(&task->handle);
    (void)mli_mov_get_status(&task->handle, &task->end.transfer);
    running[task->cookie] = NULL;
    if (--completions->running == 0) {
        uv_unref((uv_handle_t *)&completions->ended);
        uv_idle_stop(&completions->poll);
    }
}

void completions_resume(struct completions *completions)
{
    uv_async_send(&completions->ended);
}

int completions_init(struct jobs *jobs, uv_loop_t *loop, uv_async_cb on_ended)
{
    struct completions *completions = &jobs->completions;
    const int error = uv_async_init(loop, &completions->ended, on_ended);

    if (error < 0)
        return error;
    completions->ended.data = jobs;
    uv_unref((uv_handle_t *)&completions->ended);
    uv_idle_init(loop, &completions->poll); /* cannot fail */
    completions->running = 0;
    completions->thread = uv_thread_self();
    atomic_init(&completions->list, NULL);
    return 0;
}

void completions_close(struct completions *completions)
{
    assert(completions->running == 0);
    uv_close((uv_handle_t *)&completions->ended, NULL);
    uv_close((uv_handle_t *)&completions->poll, NULL);
}
