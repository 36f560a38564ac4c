/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/complete.h"

#include <assert.h>
#include <time.h>

#include "daemon/job/dispatch.h"
#include "daemon/job/jobs.h"
#include "daemon/job/task.h"
#include "mli_mov_api.h"

enum {
    POLL_PAUSE_NS = 50 * 1000, /* how long the loop is deaf where polling came to nothing */
    FRESH_MIN = 128 * 1024     /* bytes of a destination that is worth a hint */
};

/*
 * What a callback's cookie means. The loop's thread writes an entry before it starts the transfer
 * and clears it when the callback has returned. The library has one pool, and one service has it
 * (pool.h); each task that runs holds a channel at least: there are entries enough.
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

/* Gives the task back to the loop's thread. */
static void hand_over(struct task *task)
{
    struct completions *completions = &task->jobs->completions;
    struct task *latest = atomic_load_explicit(&completions->list, memory_order_relaxed);
    /* The loop's thread looks at the list anyway when it has started the transfer. */
    const bool home = on_loop(completions) && completions->starting;

    do
        task->ended_before = latest;
    while (!atomic_compare_exchange_weak_explicit(&completions->list, &latest, task,
                                                  memory_order_release, memory_order_relaxed));
    /* Neither task nor service go away before this has returned: see hand_back(). */
    if (!home)
        uv_async_send(&completions->ended);
}

/* The transfer is over. Any thread. */
static void end(struct task *task)
{
    const bool loop = on_loop(&task->jobs->completions);

    /* Here, so that the files are unmapped before the client is answered. */
    task->end.src_hit = region_end(task->places.src.region, false, loop) < 0;
    task->end.dst_hit = region_end(task->places.dst.region, true, loop) < 0;
    task->end.done = uv_hrtime();
    hand_over(task);
}

/* The library's callback: on whatever thread completes the transfer. */
static void on_transfer_done(int32_t cookie)
{
    end(running[cookie]);
}

/*
 * False where a file has shrunk before. Whoever touches the memory must not block SIGBUS. Threads
 * of the library's engines do not, nor does this thread, which moves tiny transfers itself: it has
 * made the regions.
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

/* An exclusive region was mapped for this job alone: its pages have not been touched. */
static bool set_hints(struct task *task)
{
    const struct region *dst = task->places.dst.region;

    return !dst->exclusive || dst->size < FRESH_MIN ||
           mli_mov_set_hints(&task->handle, MLI_MOV_FRESH_DST) == MLI_STATUS_OK;
}

static bool start_transfer(struct task *task)
{
    return set_hints(task) &&
           mli_mov_registercallback(&task->handle, on_transfer_done, task->cookie) ==
               MLI_STATUS_OK &&
           mli_mov_start(&task->handle, NULL, NULL, NULL) == MLI_STATUS_OK;
}

/* The library's own way to wait for a polled device: drive it, and rest where nothing comes. */
static void on_idle(uv_idle_t *poll)
{
    const struct timespec pause = {.tv_nsec = POLL_PAUSE_NS};

    (void)poll;
    if (mli_mov_poll() == 0)
        nanosleep(&pause, NULL);
}

bool complete_start(struct task *task)
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

void complete_cancel(struct task *task)
{
    if (task->state == JOB_STATE_RUNNING)
        (void)mli_mov_cancel(&task->handle);
}

static void hand_back(struct completions *completions, struct task *task)
{
    /*
     * The callback has done all but return. Only when it has are cookie and handle free, and may
     * the service go away under it. A moment's wait, and seldom any.
     */
    (void)mli_mov_synchronise(&task->handle);
    (void)mli_mov_get_status(&task->handle, &task->end.transfer);
    running[task->cookie] = NULL;
    if (--completions->running == 0) {
        uv_unref((uv_handle_t *)&completions->ended);
        uv_idle_stop(&completions->poll);
    }
    dispatch_done(task);
}

/* Takes the list, in the order in which tasks ended. */
static struct task *take_ended(struct completions *completions)
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

void completions_collect(struct completions *completions)
{
    struct task *task = take_ended(completions), *next;

    for (; task; task = next) {
        next = task->ended_before;
        hand_back(completions, task);
    }
}

void completions_resume(struct completions *completions)
{
    uv_async_send(&completions->ended);
}

/*
 * libuv joins calls that come close together: all that have ended are handled. Those that end
 * meanwhile have asked for another call: the loop's other business has its turn before.
 */
static void on_ended(uv_async_t *ended)
{
    struct completions *completions = ended->data;

    completions_collect(completions);
    dispatch_run(LINK_OWNER(completions, struct jobs, completions));
}

int completions_init(struct completions *completions, uv_loop_t *loop)
{
    const int error = uv_async_init(loop, &completions->ended, on_ended);

    if (error < 0)
        return error;
    completions->ended.data = completions;
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
