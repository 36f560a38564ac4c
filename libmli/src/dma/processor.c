/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/dma/processor.h"

#include "libmli/src/dma/bands.h"
#include "libmli/src/dma/clock.h"
#include "libmli/src/dma/pool.h"
#include "libmli/src/dma/populate.h"
#include "libmli/src/error.h"
#include "libmli/src/exec/exec.h"

/*
 * What is moved between two looks at whether it shall stop: an eighth of it, within these bounds.
 * Of a large transpose, less would take pieces of cache lines from the source, which are then read
 * again by the next one: 64 MiB of bytes took 1.1 times as long by 1 MiB, 1.01 times by 4 MiB.
 */
enum { CHUNK_MIN = 256 * 1024, CHUNK_MAX = 32 * 1024 * 1024 };

/* Works waiting for this thread. */
static MLI_THREAD_LOCAL struct {
    bool draining;
    uint32_t head, count;
    struct mli_work *work[POOL_SLOTS];
} waiting;

static size_t chunk_of(uint64_t bytes)
{
    if (bytes / 8 < CHUNK_MIN)
        return CHUNK_MIN;
    return bytes / 8 < CHUNK_MAX ? (size_t)(bytes / 8) : CHUNK_MAX;
}

/* In pieces, so that it can be stopped and watched. */
static void move_bands(struct mli_work *work, struct populate *fresh, struct mli_work_end *end)
{
    struct bands bands;
    struct band band;

    bands_init(&bands, work->plan, chunk_of(work->plan->bytes));
    while (bands_next(&bands, &band)) {
        if (mli_work_cancelled(work)) {
            end->status = MLI_STATUS_CANCELLED;
            end->descriptor = band.descriptor;
            end->row = band.row;
            return;
        }
        populate_plan(fresh, work, &band.plan);
        exec_run(&band.plan, work->plan->bytes);
        end->bytes += band.plan.bytes;
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
    } else if (work->plan->bytes > CHUNK_MIN) {
        move_bands(work, &fresh, &end);
    } else {
        populate_plan(&fresh, work, work->plan);
        exec_run(work->plan, work->plan->bytes);
        end.bytes = work->plan->bytes;
    }
    end.busy_ns = clock_ns() - begin;
    work->done(work, &end);
}

void processor_run(struct mli_work *work)
{
    waiting.work[(waiting.head + waiting.count++) % POOL_SLOTS] = work;
    if (waiting.draining)
        return;
    waiting.draining = true;
    while (waiting.count > 0) {
        struct mli_work *next = waiting.work[waiting.head];

        waiting.head = (waiting.head + 1) % POOL_SLOTS;
        waiting.count--;
        move(next);
    }
    waiting.draining = false;
}
