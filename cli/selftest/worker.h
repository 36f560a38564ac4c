/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that takes one case after the other until a round has no more. */
#ifndef CLI_SELFTEST_WORKER_H
#define CLI_SELFTEST_WORKER_H

#include "cli/selftest/round.h"

struct worker {
    struct round *round;
    uint32_t number;
    pthread_t thread;
    struct flight flight;
    struct images images;
    struct failure failure; /* of the case at hand */
};

/** Memory, but no thread yet. Returns 0 or -errno. */
int worker_init(struct worker *worker, struct round *round, uint32_t number);
void worker_finish(struct worker *worker);

/** The thread; ends with round_leave(). */
void *worker_main(void *worker);

#endif /* CLI_SELFTEST_WORKER_H */
