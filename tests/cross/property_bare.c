/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The property tests of libmli as a program without an operating system and without a board: random
 * moves and permutes against the oracle, by the processor and by the model of a DMA device.
 * scripts/cross builds it with picolibc, whose start-up code and semihosting need nothing else.
 *
 *   property_bare ENGINE MOVES
 *
 * Runs MOVES random moves and a tenth as many permutes, with traps of unaligned accesses on
 * Cortex-M processors. Ends with 0 if no case failed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmli/port/mock/mock_engine.h"
#include "tests/property/random_case.h"
#include "tests/support/guard_mem.h"

enum { SEED = 1, ILLEGAL_PERCENT = 20, FAILURES_SHOWN = 3 };

#define FIRST_PERMUTE UINT64_C(1000000000)

static struct test_case current;

static void trap_unaligned(void)
{
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
    /* Configuration and Control Register (Armv7-M Architecture Reference Manual, B3.2.8). */
    *(volatile uint32_t *)0xE000ED14u |= 1u << 3;
#endif
}

/* Runs one case; returns whether it passed. */
static bool passes(uint64_t index, struct lab *lab)
{
    struct test_case *c = &current;

    memset(c, 0, sizeof(*c));
    c->seed = SEED;
    c->index = index;
    c->lab = lab;
    c->large_percent = 1;
    c->stage = "generate";
    c->draw = draw_init(SEED, index);
    if (index >= FIRST_PERMUTE)
        case_generate_permute(c);
    else
        case_generate(c);
    if (draw_percent(&c->draw, ILLEGAL_PERCENT))
        case_mutate(c);
    (void)case_run(c);
    if (!guards_intact())
        case_fail(c, "bytes beside the buffers were written");
    return !c->failed;
}

/* Runs `count` moves and a tenth as many permutes on an engine. Returns whether all passed. */
static bool run_engine(const char *engine, uint64_t count, struct lab *lab)
{
    uint64_t failed = 0;

    if (mli_mov_set_engine(engine) != MLI_STATUS_OK ||
        mli_mov_set_num_dma_ch(0, CASE_CHANNELS_MAX) != MLI_STATUS_OK) {
        printf("%s: %s\n", engine, mli_last_error());
        return false;
    }
    for (uint64_t i = 0; i < count && failed < FAILURES_SHOWN; i++)
        failed += !passes(i, lab);
    for (uint64_t i = 0; i < count / 10 && failed < FAILURES_SHOWN; i++)
        failed += !passes(FIRST_PERMUTE + i, lab);
    printf("%s: %" PRIu64 " moves and permutes, %" PRIu64 " failed\n", engine, count + count / 10,
           failed);
    return failed == 0;
}

int main(int argc, char **argv)
{
    const uint64_t count = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    struct lab lab;

    if (count == 0) {
        printf("usage: property_bare ENGINE MOVES\n");
        return 2;
    }
    trap_unaligned();
    if (lab_init(&lab) != 0 || mli_mov_add_engine(&mock_engine) != MLI_STATUS_OK) {
        printf("no memory for the cases, or no engine: %s\n", mli_last_error());
        return 2;
    }
    return !run_engine(argv[1], count, &lab);
}
