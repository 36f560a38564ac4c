/* SPDX-License-Identifier: BSD-3-Clause */
/* Random legal tunings of the leaf kernels. */
#ifndef TEST_ANY_TUNING_H
#define TEST_ANY_TUNING_H

#include <stdint.h>

#include "mli_tuning.h"

/*
 * Returns a legal tuning that depends on (seed, index) alone. Half of the members have their
 * smallest or largest value. Most thresholds of streaming are 0, so that even small moves stream.
 */
mli_tuning any_tuning(uint64_t seed, uint64_t index);

/* Prints the members that differ from the defaults. */
void any_tuning_print(const mli_tuning *tuning);

#endif /* TEST_ANY_TUNING_H */
