/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine "spy" records its plans and is controlled by the test: work items on held channels end
 * when the test ends them, so a test can produce any order of events without a clock. It moves data
 * with loops of its own, written from the definition in mli_plan.h.
 */
#ifndef TEST_SPY_H
#define TEST_SPY_H

#include "mli_engine.h"

/* Adds the engine, once, and clears all records. */
void spy_init(void);

/* From now on, holds the work items of the channels in this mask; 0: holds none. */
void spy_hold(uint32_t channels);

/* Returns the latest plan that a channel got. */
const struct mli_plan *spy_plan(uint32_t channel);

/* Return how many plans a channel got, and how often its cancel function was called. */
uint32_t spy_submits(uint32_t channel);
uint32_t spy_cancels(uint32_t channel);

/* Return whether a work item is held on the channel, and whether it was cancelled. */
bool spy_holds(uint32_t channel);
bool spy_is_cancelled(uint32_t channel);

/*
 * Ends the held work item. With the status OK it moves all bytes; with any other status, only the
 * rows before row `row` of `descriptor`.
 */
void spy_end(uint32_t channel, mli_status status, uint32_t descriptor, uint64_t row);

/* Returns the number of rows of a descriptor: 0 if it writes nothing. */
uint64_t spy_rows(const struct mli_plan *plan, uint32_t descriptor);

/* Moves a plan up to a row of a descriptor. Returns the number of bytes written. */
uint64_t spy_move(const struct mli_plan *plan, uint32_t descriptor, uint64_t row);

#endif /* TEST_SPY_H */
