/* SPDX-License-Identifier: BSD-3-Clause */
/* Which cases --filter selects. */
#ifndef CLI_BATCH_FILTER_H
#define CLI_BATCH_FILTER_H

#include <stdbool.h>

#include "cli/options.h"

#define FILTER_OPTION                                                                              \
    {                                                                                              \
        "filter", 0, "GLOB", "only cases whose name matches (!GLOB: not those); several: any",     \
            .repeats = true                                                                        \
    }

/** Returns 0, or -1 after saying which pattern is none. */
int filter_check(const struct options *options);

/** Whether a name matches one of the patterns, if there are any, and none of those behind a !. */
bool filter_selects(const struct options *options, const char *name);

#endif /* CLI_BATCH_FILTER_H */
