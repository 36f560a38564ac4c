/* SPDX-License-Identifier: BSD-3-Clause */
/* A line on a terminal that tells how far a round is. */
#ifndef CLI_SELFTEST_PROGRESS_H
#define CLI_SELFTEST_PROGRESS_H

#include "cli/selftest/round.h"

struct progress {
    bool shown;
    uint64_t shown_ns;
};

/** Now and then, once the round takes long. The round is locked. */
void progress_show(struct progress *progress, const struct round *round);

/** Takes the line away, if it is there. */
void progress_clear(struct progress *progress);

#endif /* CLI_SELFTEST_PROGRESS_H */
