/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/memcpy_time.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PART = 16 * 1024 * 1024, /* bytes that are copied at most; no cache holds them */
    RUNS = 9,                /* whose median it is */
    RUN_BYTES = 256 * 1024,  /* of a run: small copies are repeated, or the clock is too coarse */
    REPEATS_MAX = 1024,
    ENOUGH_NS = 200 * 1000 * 1000 /* no further run begins after that */
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* One run, in ns for all of it. */
static uint64_t copy(uint8_t *to, const uint8_t *from, size_t bytes, size_t repeats)
{
    uint64_t begin = now_ns();
    for (size_t i = 0; i < repeats; i++) {
        memcpy(to, from, bytes);
        __asm__ volatile("" : : "r"(to) : "memory"); /* each of them is made */
    }
    return now_ns() - begin;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static double median(uint8_t *to, const uint8_t *from, size_t bytes)
{
    size_t repeats = RUN_BYTES / bytes < REPEATS_MAX ? RUN_BYTES / bytes : REPEATS_MAX;
    if (repeats == 0)
        repeats = 1;
    uint64_t times[RUNS], begin = now_ns();
    size_t count = 0;
    copy(to, from, bytes, 1); /* not the first touch of anything */
    do {
        times[count++] = copy(to, from, bytes, repeats);
    } while (count < RUNS && now_ns() - begin < ENOUGH_NS);
    qsort(times, count, sizeof(times[0]), compare);
    size_t middle = count / 2;
    return (double)times[middle] / (double)repeats;
}

uint64_t memcpy_time(uint64_t bytes)
{
    size_t part = bytes < PART ? (size_t)bytes : PART;
    if (part == 0)
        return 0;
    uint8_t *memory = malloc(2 * part);
    if (!memory)
        return 0;
    memset(memory, 1, 2 * part);
    double ns = median(memory + part, memory, part) * ((double)bytes / (double)part);
    free(memory);
    return ns < 1 ? 1 : (uint64_t)(ns + 0.5);
}
