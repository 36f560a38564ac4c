/* SPDX-License-Identifier: BSD-3-Clause */
/* A monotonic clock, and the time that the calling thread has run. */
#pragma once

#include <stdint.h>
#include <time.h>

enum { CLOCK_NS_PER_MS = 1000 * 1000 };

static inline uint64_t clock_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_ns(void)
{
    return clock_of(CLOCK_MONOTONIC);
}

/* Reading this clock takes a system call. */
static inline uint64_t thread_ns(void)
{
    return clock_of(CLOCK_THREAD_CPUTIME_ID);
}
