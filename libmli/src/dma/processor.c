/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/dma/processor.h"

#include <stdatomic.h>

#include "libmli/src/build.h"
#include "libmli/src/dma/clock.h"
#include "libmli/src/dma/populate.h"
#include "libmli/src/error.h"
#include "libmli/src/exec/exec.h"
#include "libmli/src/plan.h"

/*
 * Size of a chunk: an eighth of the work, within these bounds. Smaller chunks of a large transpose
 * would use only parts of the cache lines that they read, and the next chunk would read these lines
 * again: a transpose of 64 MiB of 1-byte elements took 1.1 times as long in chunks of 1 MiB, and
 * 1.01 times as long in chunks of 4 MiB.
 */
enum { CHUNK_MIN = 256 * 1024, CHUNK_MAX = 32 * 1024 * 1024 };

/* Queues that are set aside at most: each may have a move on the stack. */
enum { SUSPENDED_MAX = 3 };

/*
 * Work items that wait for this thread: those that a done() submits, or an interrupt that the
 * thread was interrupted by. An interrupt may come between any two instructions, and returns before
 * the thread goes on. Therefore atomic operations change `latest`, only a thread or interrupt that
 * found `draining` false changes it, and signal fences keep the compiler from moving accesses.
 */
static MLI_THREAD_LOCAL struct {
    atomic_bool draining;
    uint8_t suspended;                 /* number of queues that processor_suspend() has set aside */
    _Atomic(struct mli_work *) latest; /* linked to the one before it by work->engine */
} waiting;

static size_t chunk_size(uint64_t bytes)
{
    if (bytes / 8 < CHUNK_MIN)
        return CHUNK_MIN;
    return bytes / 8 < CHUNK_MAX ? (size_t)(bytes / 8) : CHUNK_MAX;
}

/*
 * The chunks of a plan (split.h has the overview). The legaliser cuts the copy box. Zeros beside
 * the rows of the box move in the chunk of these rows, so that each cache line is written once.
 */
struct chunks {
    struct mli_legaliser legaliser;
    uint32_t beside; /* bit i: slab i is beside the rows of the box */
};

/* One chunk, and the place in the work's plan where it begins. */
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

/* Returns the part of a slab beside a piece of the box. */
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
 * Takes all waiting work items, and puts others in their place. Returns the first one, which is
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
            next = work->engine; /* before done(): its owner may submit the work again */
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
        /* An interrupt before the last line has left its work items. */
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
    /* Interrupts beside the calls of set_draining() may have left work items: put these behind. */
    for (struct mli_work *later = exchange_all(before->latest), *next; later; later = next) {
        next = later->engine;
        wait_for_turn(later);
    }
    waiting.suspended--;
}
