/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Maps the untouched pages of a destination before the processor writes them, by system calls for
 * many pages at a time: one page fault for each page takes longer.
 */
#ifndef MLI_DMA_POPULATE_H
#define MLI_DMA_POPULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_engine.h"

/* The state for one work item. */
struct populate {
    bool on;              /* true: the hint is given, and the system has not refused a call */
    size_t page;          /* page size in bytes */
    uintptr_t begin, end; /* range of the pages of the latest calls */
};

#if defined(__linux__) && __STDC_HOSTED__

/** Begins a work item: no page is mapped yet. */
void populate_init(struct populate *p, const struct mli_work *work);

/**
 * Maps the pages that a chunk of the work's plan writes, and no others. Stops early if the work is
 * cancelled. If the system refuses a call, for example for pages past the end of a file, page
 * faults map the remaining pages.
 */
void populate_plan(struct populate *p, const struct mli_work *work, const struct mli_plan *plan);

#else

static inline void populate_init(struct populate *p, const struct mli_work *work)
{
    (void)work;
    p->on = false;
}

static inline void populate_plan(struct populate *p, const struct mli_work *work,
                                 const struct mli_plan *plan)
{
    (void)p;
    (void)work;
    (void)plan;
}

#endif

#endif /* MLI_DMA_POPULATE_H */
