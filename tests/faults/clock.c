/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded by the test of clock jumps: at each call that reads the time of day, the time jumps by
 * up to a year, forward or back. $CLOCK_SEED is the seed of the jumps. The monotonic clock does not
 * jump.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

enum { YEAR = 365 * 24 * 3600 };

static uint64_t state;

static time_t jump(void)
{
    uint64_t value = __atomic_add_fetch(&state, 0x9e3779b97f4a7c15, __ATOMIC_RELAXED);
    const char *seed = getenv("CLOCK_SEED");

    value += seed ? strtoull(seed, NULL, 10) * 0xd1342543de82ef95 : 0;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return (time_t)((value ^ value >> 31) % (2 * YEAR)) - YEAR;
}

static int read_clock(clockid_t clock, struct timespec *now)
{
    static int (*next)(clockid_t, struct timespec *);

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    return next(clock, now);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = read_clock(clock, now);

    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += jump();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec time;

    (void)zone;
    read_clock(CLOCK_REALTIME, &time);
    *now = (struct timeval){time.tv_sec + jump(), time.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;

    read_clock(CLOCK_REALTIME, &now);
    now.tv_sec += jump();
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
