/* SPDX-License-Identifier: BSD-3-Clause */
/* Random moves that libmli would take. */
#ifndef TESTS_RANDOM_HAND_H
#define TESTS_RANDOM_HAND_H

#include "tests/support/rng.h"
#include "tests/unit/explain/hand.h"

/** A move of extents up to `most`, of everything that a move can do at once. */
void random_hand(struct rng *rng, uint32_t most, struct hand *hand);

#endif /* TESTS_RANDOM_HAND_H */
