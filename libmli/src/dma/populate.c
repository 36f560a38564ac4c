/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/dma/populate.h"

#if defined(__linux__) && __STDC_HOSTED__

#include <sys/mman.h>
#include <unistd.h>

#include "libmli/src/plan.h"

/* The system has MADV_POPULATE_WRITE since Linux 5.14; older C libraries do not define the name. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
    RANGE_MIN = 32 * 1024,  /* bytes: a call for fewer saves too few page faults */
    SLICE = 2 * 1024 * 1024 /* bytes that one call maps, between two checks for a cancel */
};

void populate_init(struct populate *p, const struct mli_work *work)
{
    *p = (struct populate){.on = work->hints & MLI_MOV_FRESH_DST};
    if (p->on)
        p->page = (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * Returns the extent, in bytes, of the largest inner loops that write to every page of their range:
 * gaps in the range are smaller than a page. *outer is the number of loops around these.
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
 * Leaves out pages that the latest calls have mapped: zeros beside rows share the pages of the
 * rows.
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

void populate_plan(struct populate *p, const struct mli_work *work, const struct mli_plan *plan)
{
    if (!p->on)
        return;
    for (uint32_t i = plan->box.run == 0; i <= plan->slabs; i++) {
        const struct mli_copy_box box = plan_box(plan, i);

        populate_box(p, work, &box);
    }
}

#endif
