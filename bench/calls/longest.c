/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/calls/longest.h"

#include <err.h>
#include <stdlib.h>
#include <time.h>

#include "bench/moves/evict.h"

static uint64_t thread_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void play(const struct scene *scene, uint64_t *fastest)
{
    const struct scene_memory memory = scene->begin();

    for (uint32_t i = 0; i < scene->calls; i++) {
        uint64_t begin, took;

        evict(memory.begin, memory.bytes);
        begin = thread_ns();
        scene->call(i);
        took = thread_ns() - begin;
        if (took < fastest[i])
            fastest[i] = took;
    }
    scene->end();
}

struct call_times call_times_measure(const struct scene *scene, uint32_t plays)
{
    uint64_t *fastest = malloc(scene->calls * sizeof *fastest);
    struct call_times times = {0};

    if (!fastest)
        err(1, "%s", scene->title);
    for (uint32_t i = 0; i < scene->calls; i++)
        fastest[i] = UINT64_MAX;
    for (uint32_t i = 0; i < plays; i++)
        play(scene, fastest);
    for (uint32_t i = 0; i < scene->calls; i++) {
        const double us = (double)fastest[i] / 1000;

        times.mean += us / scene->calls;
        if (us > times.longest)
            times.longest = us;
    }
    free(fastest);
    return times;
}
