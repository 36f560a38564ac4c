/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cutting plans. Four functions cut a plan, each for another caller:
 *
 *   plan of a transfer
 *     |  split.c       run_start(), once: a PART for each channel of the claim, of about equal size
 *     v
 *   part = plan of a work item, on one channel
 *     |-- legalise.c       the driver of a device, when its ring has room: DESCRIPTORS that the
 *     |                    registers of the channel can express (mli_engine.h, public)
 *     |-- processor.c      engines inline and threads, for work items above 256 KiB: CHUNKS;
 *     |                    a cancel takes effect between two chunks
 *     `-- fault_pieces.c   engine fault: PIECES in random order, or the pieces before the place
 *                          where the work fails; the engine inside gets each piece as a work item
 *
 * processor.c and fault_pieces.c cut with the legaliser, under limits of their own (the rows before
 * a failure excepted, which fault_pieces.c finds by itself). split.c does not: it needs parts of
 * about equal size, and the legaliser cuts pieces of at most a given size. All results are disjoint
 * and together write exactly the bytes of the plan.
 */
#ifndef MLI_DMA_SPLIT_H
#define MLI_DMA_SPLIT_H

#include "mli_engine.h"

/**
 * Cuts a plan into at most `parts` disjoint parts with about equal numbers of bytes; out[0] is the
 * first in the order of the destination's rows. Cuts between rows; if rows are shorter than a cache
 * line, between cache lines. Returns the number of parts; no part is empty.
 */
size_t split_plan(const struct mli_plan *plan, size_t parts, struct mli_plan *const out[]);

/**
 * Cuts a plan for at most `channels` channels, into fewer parts if parts would have `tiny` bytes or
 * less: these are not worth a channel. Returns the number of parts, at least 1.
 */
size_t split_among(const struct mli_plan *plan, size_t channels, size_t tiny,
                   struct mli_plan *const out[]);

#endif /* MLI_DMA_SPLIT_H */
