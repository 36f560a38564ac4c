/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/random.h>
#include <time.h>

#include "tests/sim/fiber.h"
#include "tests/sim/kernel.h"
#include "tests/sim/real.h"
#include "tests/sim/world.h"
#include "tests/sim/wrapped.h"

enum { CLOCK_NS = 30 };

int WRAP(clock_gettime)(clockid_t clock, struct timespec *time)
{
    uint64_t now;

    if (world_now() == 0) /* before the simulation has begun */
        return __real_clock_gettime(clock, time);
    world_pass(CLOCK_NS);
    now = world_now();
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        now += (uint64_t)world_jump;
    *time = (struct timespec){.tv_sec = (time_t)(now / S), .tv_nsec = (long)(now % S)};
    return 0;
}

int WRAP(nanosleep)(const struct timespec *time, struct timespec *rest)
{
    (void)rest;
    fiber_sleep((uint64_t)time->tv_sec * S + (uint64_t)time->tv_nsec);
    return 0;
}

ssize_t WRAP(getrandom)(void *bytes, size_t size, unsigned flags)
{
    (void)flags;
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)world_random();
    return (ssize_t)size;
}
