/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines that a selftest goes through when none is named. */
#ifndef CLI_SELFTEST_ENGINES_H
#define CLI_SELFTEST_ENGINES_H

#include <stddef.h>

#include "mli_engine.h"

enum { ENGINES_CONFIGURATIONS = 3, ENGINES_SPEC_MAX = 128 };

struct engines {
    size_t count;
    char specs[MLI_ENGINES_MAX * ENGINES_CONFIGURATIONS][ENGINES_SPEC_MAX];
};

/**
 * Each engine there is: as it is by default; with every transfer on its channels, however small;
 * and the same with the pieces of transfers out of order and late, which must not matter.
 */
void engines_list(struct engines *engines);

#endif /* CLI_SELFTEST_ENGINES_H */
