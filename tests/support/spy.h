/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An engine that shows the plans it is given and does as the test says: works of held channels are
 * done when the test ends them, so that every order of events can be had without a clock. It moves
 * with loops of its own, straight from the definition in mli_plan.h.
 */
#ifndef TEST_SPY_H
#define TEST_SPY_H

#include "mli_engine.h"

/* Makes the engine "spy" known, once, and takes note of nothing so far. */
void spy_init(void);

/* Works of the channels in this mask are held from now on; 0: none. */
void spy_hold(uint32_t channels);

/* The plan that a channel was given last. */
const struct mli_plan *spy_plan(uint32_t channel);

/* Plans given to a channel, and times it was asked to cancel. */
uint32_t spy_submits(uint32_t channel);
uint32_t spy_cancels(uint32_t channel);

/* Is a work held there, and was it cancelled? */
bool spy_holds(uint32_t channel);
bool spy_is_cancelled(uint32_t channel);

/* Ends the work held there: OK moves it whole, anything else moves what is before the place. */
void spy_end(uint32_t channel, mli_status status, uint32_t descriptor, uint64_t row);

/* Rows of a descriptor: 0 where it has nothing to do. */
uint64_t spy_rows(const struct mli_plan *plan, uint32_t descriptor);

/* Does what a plan says up to a row of a descriptor. Returns the bytes written. */
uint64_t spy_move(const struct mli_plan *plan, uint32_t descriptor, uint64_t row);

#endif /* TEST_SPY_H */
