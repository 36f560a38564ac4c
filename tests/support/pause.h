/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping for a millisecond, where there is an operating system. */
#ifndef TEST_PAUSE_H
#define TEST_PAUSE_H

#if defined(__linux__)

#include <stddef.h>
#include <time.h>

static inline void pause_ms(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

#else

/* Without an operating system, tests need no pause: interrupts come at any time. */
static inline void pause_ms(void)
{
}

#endif

#endif /* TEST_PAUSE_H */
