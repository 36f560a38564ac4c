/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the property tests: [--seed N] [--count N] [--permutes N] [--only INDEX]
   [--large PERCENT] [--engine SPEC]. */
#ifndef TEST_OPTIONS_H
#define TEST_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct options {
    uint64_t seed, count, permutes, only;
    uint64_t large; /* percent of the cases with large shapes */
    bool only_one;
    const char *engine; /* null: not given */
};

/* The caller sets the defaults of counts and percents. Prints the seed, from the clock where none
 * is given. */
bool options_parse(struct options *options, int argc, char **argv);

#endif /* TEST_OPTIONS_H */
