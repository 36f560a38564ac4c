/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What dma needs of the operating system: monotonic time, and sleeping until another thread changes
 * a word, by futexes on Linux. On other systems there is no clock, and park() returns at once: the
 * caller checks the word in a loop until an interrupt or another core changes it.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#if defined(__linux__) && __STDC_HOSTED__

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/** Returns nanoseconds; 0 without a clock. */
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

/* 32-bit systems may have only the call with 64-bit times. */
#ifdef SYS_futex
#define PARK_FUTEX SYS_futex
struct park_time {
    long s, ns;
};
#else
#define PARK_FUTEX SYS_futex_time64
struct park_time {
    int64_t s, ns;
};
#endif

/** Sleeps while *word is `value`; may return early. */
static inline void park(_Atomic uint32_t *word, uint32_t value)
{
    syscall(PARK_FUTEX, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

/** Sleeps while *word is `value`, for at most `ns` nanoseconds, below a second. */
static inline void park_for(_Atomic uint32_t *word, uint32_t value, uint32_t ns)
{
    const struct park_time time = {.ns = ns};

    syscall(PARK_FUTEX, word, FUTEX_WAIT_PRIVATE, value, &time, NULL, 0);
}

/** Wakes all threads that sleep on the word. */
static inline void unpark(_Atomic uint32_t *word)
{
    syscall(PARK_FUTEX, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#else

static inline uint64_t clock_ns(void)
{
    return 0;
}

static inline void clock_sleep(uint64_t ns)
{
    (void)ns;
}

static inline void park(_Atomic uint32_t *word, uint32_t value)
{
    (void)word;
    (void)value;
}

static inline void park_for(_Atomic uint32_t *word, uint32_t value, uint32_t ns)
{
    (void)word;
    (void)value;
    (void)ns;
}

static inline void unpark(_Atomic uint32_t *word)
{
    (void)word;
}

#endif

/** Tells the processor that the loop around it waits for another thread. */
static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__ARM_ARCH) && __ARM_ARCH >= 7
    __asm__ volatile("yield");
#endif
}
