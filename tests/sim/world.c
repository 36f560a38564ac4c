/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/sim/world.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/support/rng.h"

static struct {
    struct rng rng;
    uint64_t now, checksum;
} world;

struct fault_rates world_rates, world_excuses;
bool world_log;
const char *world_name = "";
int64_t world_jump;
uint64_t world_step;

void world_begin(uint64_t seed)
{
    world.rng = rng_for_case(seed, 0);
    world.now = S;
    world.checksum = UINT64_C(0xCBF29CE484222325);
}

uint32_t world_below(uint32_t count)
{
    return rng_below(&world.rng, count);
}

uint32_t world_between(uint32_t lo, uint32_t hi)
{
    return rng_between(&world.rng, lo, hi);
}

bool world_chance(uint32_t rate)
{
    return rate > 0 && rng_below(&world.rng, 10000) < rate;
}

uint64_t world_random(void)
{
    return rng_next(&world.rng);
}

uint64_t world_now(void)
{
    return world.now;
}

void world_set_now(uint64_t now)
{
    world.now = now;
}

void world_pass(uint64_t ns)
{
    world.now += ns;
}

void world_note(uint64_t event)
{
    world.checksum = (world.checksum ^ event) * UINT64_C(0x100000001B3);
    world.checksum ^= world.checksum >> 29;
}

uint64_t world_checksum(void)
{
    return world.checksum;
}

void world_fail(const char *format, ...)
{
    va_list arguments;

    fflush(stdout);
    fprintf(stderr, "%s, step %" PRIu64 ", %" PRIu64 " us: ", world_name, world_step,
            world.now / US);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    fflush(stderr);
    _exit(1);
}
