/* SPDX-License-Identifier: BSD-3-Clause */
/* Monotonic time, and sleeping, on systems that have a clock. */
#ifndef MLI_DMA_CLOCK_H
#define MLI_DMA_CLOCK_H

#include <stdint.h>

#if defined(__linux__) && __STDC_HOSTED__

#include <time.h>

static inline uint64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void clock_sleep(uint64_t ns)
{
    const struct timespec pause = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

    nanosleep(&pause, 0);
}

#else

/** Returns nanoseconds; 0 without a clock. */
static inline uint64_t clock_ns(void)
{
    return 0;
}

static inline void clock_sleep(uint64_t ns)
{
    (void)ns;
}

#endif

#endif /* MLI_DMA_CLOCK_H */
