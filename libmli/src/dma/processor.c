/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines without hardware: the processor moves work items, in the calling thread (inline) or
   in a thread for each channel (threads). */
#include <stdatomic.h>

#include "libmli/src/dma/dma.h"
#include "libmli/src/dma/os.h"
#include "libmli/src/error.h"
#include "libmli/src/exec/exec.h"
#include "libmli/src/plan.h"

#if defined(__linux__) && __STDC_HOSTED__
#include <sys/mman.h>
#include <unistd.h>
#endif
#if ENGINE_HAS_THREADS
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#endif

/*
 * Maps the untouched pages of a destination before the processor writes them, by system calls for
 * many pages at a time: one page fault for each page takes longer.
 */

/* The state for one work item. */
struct populate {
    bool on;              /* true: the program gave the hint, and the system can map pages early */
    size_t page;          /* page size in bytes */
    uintptr_t begin, end; /* range of the pages of the latest calls */
};

#if defined(__linux__) && __STDC_HOSTED__

/* The system has MADV_POPULATE_WRITE since Linux 5.14; older C libraries do not define the name. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
    RANGE_MIN = 32 * 1024,  /* minimum bytes that a call maps; fewer save too few page faults */
    SLICE = 2 * 1024 * 1024 /* bytes that one call maps; a cancel is checked between two calls */
};

/* Begins a work item: no page is mapped yet. */
static void populate_init(struct populate *p, const struct mli_work *work)
{
    *p = (struct populate){.on = work->hints & MLI_MOV_FRESH_DST};
    if (p->on)
        p->page = (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * Finds as many inner loops as possible that together write to every page of a range, because all
 * gaps between their writes are smaller than a page. Returns the bytes of this range, and sets
 * *outer to the number of loops around these loops.
 */
static size_t find_range(const struct mli_copy_box *box, size_t page, size_t *outer)
{
    size_t extent = box->run;

    for (*outer = box->loops; *outer > 0; --*outer) {
        const struct mli_copy_loop *loop = &box->loop[*outer - 1];

        if (loop->dst_step > extent && loop->dst_step - extent >= page)
            break;
        extent += (loop->count - 1) * loop->dst_step;
    }
    return extent;
}

/*
 * Leaves out pages that the latest calls have mapped already: rows and the zeros beside them are in
 * the same pages, but need two calls.
 */
static void leave_out_latest(const struct populate *p, uintptr_t *begin, uintptr_t *end)
{
    if (*begin >= p->begin && *begin < p->end)
        *begin = p->end;
    else if (*end > p->begin && *end <= p->end)
        *end = p->begin;
}

static void populate_range(struct populate *p, const struct mli_work *work, const uint8_t *at,
                           size_t bytes)
{
    uintptr_t begin = (uintptr_t)at / p->page * p->page;
    uintptr_t end = ((uintptr_t)at + bytes + p->page - 1) / p->page * p->page;

    leave_out_latest(p, &begin, &end);
    if (begin >= end || end - begin < RANGE_MIN)
        return;
    if (begin != p->end)
        p->begin = begin;
    for (p->end = begin; p->end < end && p->on && !mli_work_cancelled(work);) {
        const size_t slice = end - p->end < SLICE ? end - p->end : SLICE;

        /* The address of a page of the destination. NOLINTNEXTLINE(performance-no-int-to-ptr) */
        p->on = madvise((void *)p->end, slice, MADV_POPULATE_WRITE) == 0;
        p->end += slice;
    }
}

static void populate_box(struct populate *p, const struct mli_work *work,
                         const struct mli_copy_box *box)
{
    struct mli_copy_box ranges = *box;
    const size_t bytes = find_range(box, p->page, &ranges.loops);
    const uint64_t count = bytes < RANGE_MIN ? 0 : box_rows(&ranges);

    for (uint64_t i = 0; i < count && p->on; i++)
        populate_range(p, work, box_row(&ranges, i), bytes);
}

/*
 * Maps the pages that a chunk of the work's plan writes, and no others. Stops early if the work is
 * cancelled. If the system refuses a call, for example for pages past the end of a file, page
 * faults map the remaining pages.
 */
static void populate_plan(struct populate *p, const struct mli_work *work,
                          const struct mli_plan *plan)
{
    if (!p->on)
        return;
    for (uint32_t i = plan->box.run == 0; i <= plan->slabs; i++) {
        const struct mli_copy_box box = plan_box(plan, i);

        populate_box(p, work, &box);
    }
}

#else

static void populate_init(struct populate *p, const struct mli_work *work)
{
    (void)work;
    p->on = false;
}

static void populate_plan(struct populate *p, const struct mli_work *work,
                          const struct mli_plan *plan)
{
    (void)p;
    (void)work;
    (void)plan;
}

#endif

/*
 * Size of a chunk: an eighth of the work, within these bounds. Smaller chunks of a large transpose
 * would use only parts of the cache lines that they read, and the next chunk would read these lines
 * again: a transpose of 64 MiB of 1-byte elements took 1.1 times as long in chunks of 1 MiB, and
 * 1.01 times as long in chunks of 4 MiB.
 */
enum { CHUNK_MIN = 256 * 1024, CHUNK_MAX = 32 * 1024 * 1024 };

/* Maximum number of queues that are set aside at once. Each may need a move's stack. */
enum { SUSPENDED_MAX = 3 };

/*
 * Work items that wait for this thread: submitted by a done(), or by an interrupt of the thread. An
 * interrupt may come between any two instructions, and returns before the thread continues.
 * Therefore atomic operations change `latest`, only a thread or interrupt that found `draining`
 * false changes it, and signal fences keep the compiler from moving accesses.
 */
static MLI_THREAD_LOCAL struct {
    atomic_bool draining;
    uint8_t suspended;                 /* number of queues that processor_suspend() has set aside */
    _Atomic(struct mli_work *) latest; /* the queue's last item; item->engine is the item before */
} waiting;

static size_t chunk_size(uint64_t bytes)
{
    if (bytes / 8 < CHUNK_MIN)
        return CHUNK_MIN;
    return bytes / 8 < CHUNK_MAX ? (size_t)(bytes / 8) : CHUNK_MAX;
}

/*
 * The chunks of a plan (dma.h has the overview). The legaliser cuts the copy box. A chunk also has
 * the zeros beside its rows, so that each cache line is written once.
 */
struct chunks {
    struct mli_legaliser legaliser;
    uint32_t beside; /* bit i: slab i is beside the rows of the box */
};

/* One chunk, and its position in the work item's plan. */
struct chunk {
    struct mli_plan plan;
    uint32_t descriptor;
    uint64_t row;
};

/* Returns whether the slab touches the rows of the box, and has equal loops. */
static bool is_beside(const struct mli_fill_slab *slab, const struct mli_copy_box *box)
{
    const struct border_rows rows = border_rows(box);

    if (slab->loops != box->loops ||
        !(border_is_before(slab, &rows) || border_is_after(slab, &rows)))
        return false;
    for (size_t i = 0; i < box->loops; i++) {
        if (slab->loop[i].count != box->loop[i].count ||
            slab->loop[i].step != box->loop[i].dst_step)
            return false;
    }
    return true;
}

static void chunks_init(struct chunks *chunks, const struct mli_plan *plan)
{
    const size_t bytes = chunk_size(plan->bytes);
    const struct mli_channel_caps caps = {.loops = MLI_MAX_RANK, .bytes_max = bytes};

    mli_legalise_init(&chunks->legaliser, plan, &caps);
    chunks->legaliser.blocks = true;
    chunks->beside = 0;
    for (size_t i = 0; plan->box.run > 0 && plan->box.run <= bytes && i < plan->slabs; i++) {
        if (is_beside(&plan->slab[i], &plan->box))
            chunks->beside |= 1u << i;
    }
}

static bool moves_with_box(const struct chunks *chunks, uint32_t descriptor)
{
    return descriptor > 0 && chunks->beside & 1u << (descriptor - 1);
}

/* Returns the zeros of the slab that are beside *box, which is a piece of the plan's copy box. */
static struct mli_copy_box cut_beside(const struct mli_fill_slab *slab,
                                      const struct mli_copy_box *box,
                                      const struct mli_descriptor *piece)
{
    struct mli_copy_box part = slab_box(slab);
    uint64_t row = piece->row;
    size_t in_piece = piece->box.loops;

    for (size_t i = box->loops; i-- > 0;) {
        const size_t at = (size_t)(row % box->loop[i].count);
        const struct mli_copy_loop *last = &piece->box.loop[in_piece - (in_piece > 0)];

        row /= box->loop[i].count;
        part.dst += at * part.loop[i].dst_step;
        part.loop[i].count = 1;
        if (in_piece > 0 && last->dst_step == part.loop[i].dst_step) {
            part.loop[i].count = last->count;
            in_piece--;
        }
    }
    return part;
}

/* Sets *chunk to the next chunk; false at the end. */
static bool chunks_next(struct chunks *chunks, struct chunk *chunk)
{
    const struct mli_plan *plan = chunks->legaliser.plan;
    struct mli_descriptor piece;

    do {
        if (!mli_legalise_next(&chunks->legaliser, &piece))
            return false;
    } while (moves_with_box(chunks, piece.index));
    chunk->descriptor = piece.index;
    chunk->row = piece.row;
    plan_clear(&chunk->plan);
    plan_add_box(&chunk->plan, &piece.box);
    for (uint32_t i = 0; piece.index == 0 && i < plan->slabs; i++) {
        if (moves_with_box(chunks, i + 1)) {
            struct mli_copy_box part = cut_beside(&plan->slab[i], &plan->box, &piece);

            plan_add_box(&chunk->plan, &part);
        }
    }
    return true;
}

/* Moves a work item in chunks, and checks before each chunk whether the work is cancelled. */
static void move_chunks(struct mli_work *work, struct populate *fresh, struct mli_work_end *end)
{
    struct chunks chunks;
    struct chunk chunk;

    chunks_init(&chunks, work->plan);
    while (chunks_next(&chunks, &chunk)) {
        if (mli_work_cancelled(work)) {
            end->status = MLI_STATUS_CANCELLED;
            end->descriptor = chunk.descriptor;
            end->row = chunk.row;
            return;
        }
        populate_plan(fresh, work, &chunk.plan);
        exec_run(&chunk.plan, work->plan->bytes);
        end->bytes += chunk.plan.bytes;
        mli_work_progress(work, (size_t)end->bytes);
    }
}

static void move(struct mli_work *work)
{
    struct mli_work_end end = {.status = MLI_STATUS_OK};
    const uint64_t begin = clock_ns();
    struct populate fresh;

    populate_init(&fresh, work);
    if (mli_work_cancelled(work)) {
        end.status = MLI_STATUS_CANCELLED;
    } else if (!BUILD_SMALL_KERNELS && work->plan->bytes > CHUNK_MIN) {
        move_chunks(work, &fresh, &end);
    } else {
        populate_plan(&fresh, work, work->plan);
        exec_run(work->plan, work->plan->bytes);
        end.bytes = work->plan->bytes;
    }
    end.busy_ns = clock_ns() - begin;
    work->hints |= PROCESSOR_MOVED;
    work->done(work, &end);
}

static void wait_for_turn(struct mli_work *work)
{
    struct mli_work *before = atomic_load_explicit(&waiting.latest, memory_order_relaxed);

    do
        work->engine = before;
    while (!atomic_compare_exchange_weak_explicit(&waiting.latest, &before, work,
                                                  memory_order_relaxed, memory_order_relaxed));
}

static bool any_waits(void)
{
    return atomic_load_explicit(&waiting.latest, memory_order_relaxed) != NULL;
}

/*
 * Exchanges the list of waiting work items for another list. Returns the first one, which is
 * linked to the next.
 */
static struct mli_work *exchange_all(struct mli_work *latest)
{
    struct mli_work *work = atomic_exchange_explicit(&waiting.latest, latest, memory_order_relaxed);
    struct mli_work *first = NULL;

    while (work) {
        struct mli_work *before = work->engine;

        work->engine = first;
        first = work;
        work = before;
    }
    return first;
}

/* Moves the waiting work items in the order in which they came. */
static void drain(void)
{
    while (any_waits()) {
        for (struct mli_work *work = exchange_all(NULL), *next; work; work = next) {
            next = work->engine; /* read `engine` before done(): afterwards the owner may submit the
                                    work item again */
            move(work);
        }
    }
}

static void set_draining(bool draining)
{
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&waiting.draining, draining, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

void processor_run(struct mli_work *work)
{
    if (atomic_load_explicit(&waiting.draining, memory_order_relaxed)) {
        wait_for_turn(work);
        return;
    }
    set_draining(true);
    move(work);
    do {
        drain();
        set_draining(false);
        /* Work items of an interrupt that arrived before set_draining(false) are queued, but not
           moved yet. */
        if (!any_waits())
            return;
        set_draining(true);
    } while (true);
}

void processor_suspend(struct processor_queue *before)
{
    before->draining = atomic_load_explicit(&waiting.draining, memory_order_relaxed) &&
                       waiting.suspended < SUSPENDED_MAX;
    if (!before->draining)
        return;
    waiting.suspended++;
    before->latest = atomic_exchange_explicit(&waiting.latest, NULL, memory_order_relaxed);
    set_draining(false);
}

void processor_resume(const struct processor_queue *before)
{
    if (!before->draining)
        return;
    set_draining(true);
    /* Interrupt handlers may have queued work items meanwhile: append these to the queue of
     *before. */
    for (struct mli_work *later = exchange_all(before->latest), *next; later; later = next) {
        next = later->engine;
        wait_for_turn(later);
    }
    waiting.suspended--;
}

/* The engine inline. */

static uint32_t probe(void)
{
    return POOL_CHANNELS;
}

static void inline_caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->flags = MLI_CHANNEL_CPU;
    caps->loops = MLI_MAX_RANK;
}

static void inline_submit(uint32_t channel, struct mli_work *work)
{
    (void)channel;
    processor_run(work);
}

const struct mli_engine engine_inline = {
    .size = sizeof(struct mli_engine),
    .name = "inline",
    .probe = probe,
    .caps = inline_caps,
    .submit = inline_submit,
};

/*
 * The engine threads: every channel is a thread with a mailbox for one work item. Submitting
 * exchanges one word; a system call is needed only if the thread sleeps.
 */

#if ENGINE_HAS_THREADS

enum {
    /* Up to this size, the thread that starts a transfer also moves the data: waking another thread
       takes longer than the move, unless the move is slow. Measured with `bench-async tiny`. */
    TINY = 32 * 1024,
    /* Checks of the mailbox before the thread goes to sleep: a few microseconds. Without them, most
       transfers that are started one after the other cost a wake-up each (`bench-async rate`). */
    LINGER = 100
};

enum mail {
    EMPTY = 0, /* the thread is awake, and will check again */
    SLEEPING,  /* the mailbox is empty, and the thread must be woken */
    FULL,      /* the mailbox has a work item */
    CLOSING    /* the thread must end */
};

static struct worker {
    _Alignas(64) _Atomic uint32_t mail;
    struct mli_work *work; /* valid while FULL */
    pthread_t thread;
    bool gone; /* true: a fork has left the thread in the parent process */
} workers[POOL_CHANNELS];

/* Waits a moment for a work item, because a work item that arrives now needs no wake-up. */
static uint32_t linger(struct worker *worker)
{
    uint32_t mail = atomic_load(&worker->mail);

    for (int i = 0; i < LINGER && mail == EMPTY; i++) {
        relax();
        mail = atomic_load(&worker->mail);
    }
    return mail;
}

/* Sleeps until a message arrives. Returns false if the thread must end. */
static bool receive(struct worker *worker, struct mli_work **work)
{
    uint32_t mail = linger(worker);

    while (mail != FULL && mail != CLOSING) {
        if (mail == SLEEPING || atomic_compare_exchange_strong(&worker->mail, &mail, SLEEPING))
            park(&worker->mail, SLEEPING);
        mail = atomic_load(&worker->mail);
    }
    if (mail == CLOSING)
        return false;
    *work = worker->work;
    atomic_store(&worker->mail, EMPTY); /* done() may send the next work item, so do this first */
    return true;
}

static void *serve(void *context)
{
    struct worker *worker = context;
    struct mli_work *work;
    char name[16];

    snprintf(name, sizeof(name), "mli-dma-%u", (uint8_t)(worker - workers));
    prctl(PR_SET_NAME, name);
    while (receive(worker, &work))
        processor_run(work);
    return NULL;
}

static void send(struct worker *worker, enum mail mail)
{
    if (atomic_exchange(&worker->mail, mail) == SLEEPING)
        unpark(&worker->mail);
}

static void threads_caps(uint32_t channel, struct mli_channel_caps *caps)
{
    inline_caps(channel, caps);
    caps->tiny = TINY;
}

/*
 * Blocks all signals in the new thread, because they are for the program's threads; except those
 * that the thread's own faults raise.
 */
static bool open_channel(uint32_t channel)
{
    struct worker *worker = &workers[channel];
    sigset_t blocked, before;
    int error;

    atomic_store(&worker->mail, EMPTY);
    sigfillset(&blocked);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGFPE);
    sigdelset(&blocked, SIGILL);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    error = pthread_create(&worker->thread, NULL, serve, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    worker->gone = error != 0;
    return error == 0;
}

static void close_channel(uint32_t channel)
{
    if (workers[channel].gone)
        return;
    send(&workers[channel], CLOSING);
    pthread_join(workers[channel].thread, NULL);
}

static void threads_submit(uint32_t channel, struct mli_work *work)
{
    if (workers[channel].gone && !open_channel(channel)) {
        processor_run(work); /* no new thread: the caller moves */
        return;
    }
    workers[channel].work = work;
    send(&workers[channel], FULL);
}

const struct mli_engine engine_threads = {
    .size = sizeof(struct mli_engine),
    .name = "threads",
    .probe = probe,
    .caps = threads_caps,
    .submit = threads_submit,
    .open = open_channel,
    .close = close_channel,
};

#endif

void processor_after_fork(void)
{
#if ENGINE_HAS_THREADS
    for (uint32_t i = 0; i < POOL_CHANNELS; i++)
        workers[i].gone = true;
#endif
    atomic_store_explicit(&waiting.latest, NULL, memory_order_relaxed);
}
