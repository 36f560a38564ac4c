/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the property tests: [--seed N] [--count N] [--permutes N] [--only INDEX]
   [--large PERCENT] [--engine SPEC] [--tunings 1]. */
#ifndef TEST_OPTIONS_H
#define TEST_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct options {
    uint64_t seed, count, permutes, only;
    uint64_t large;   /* percent of the cases that have large shapes */
    uint64_t tunings; /* 1: each case has a random tuning of the kernels */
    bool only_one;
    const char *engine; /* engine of the run; null: not given */
};

/*
 * Replaces the caller's defaults by the given options, scales `count` and `permutes` (scale.h) and
 * prints the seed (default: from the clock). Prints a message and returns false on a wrong option.
 */
bool options_parse(struct options *options, int argc, char **argv);

#endif /* TEST_OPTIONS_H */
