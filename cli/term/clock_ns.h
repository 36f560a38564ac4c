/* SPDX-License-Identifier: BSD-3-Clause */
/* A monotonic clock. */
#ifndef CLI_CLOCK_NS_H
#define CLI_CLOCK_NS_H

#include <stdint.h>
#include <time.h>

enum { CLOCK_NS_PER_MS = 1000 * 1000 };

static inline uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif /* CLI_CLOCK_NS_H */
