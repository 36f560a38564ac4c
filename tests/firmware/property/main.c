/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares random moves and permutes with the oracle on a board, with each way of completion of its
 * engine: polling and interrupts. Then plays scenes of errors and cancels (scenes.h).
 *
 *   property.elf [--seed N] [--count MOVES] [--permutes PERMUTES] [--only INDEX] [--large PERCENT]
 *                [--interrupt 0|1] [--first CHANNEL] [--coherent 1] [--options TEXT]
 *
 * The options are those of tests/property/test_moves, and:
 *   --interrupt 0|1  Run one way only.
 *   --percent N      Run N percent of the cases (default: 100).
 *   --first CHANNEL  Use the channels from this one on (default: 0).
 *   --coherent 1     Treat memory as coherent, whatever the board says: correct under QEMU, which
 *                    models no caches. Then transfers are split over channels at any byte.
 *   --options TEXT   Set more options of the engine: "list=3,linear=1".
 *
 * Prints a line for each way and a result, "property NAME: passed" or "property NAME: FAILED", and
 * ends with 0 or 1. Every case depends on (seed, index) alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boards/firmware/board.h"
#include "tests/firmware/property/scenes.h"
#include "tests/property/random_case.h"
#include "tests/support/guard_mem.h"

#define FIRST_PERMUTE   UINT64_C(1000000000)
#define ILLEGAL_PERCENT 20
#define MOST_FAILURES   5

enum { BOTH_WAYS = 2 };

static struct options {
    uint64_t seed, count, permutes, percent, only, large, interrupt, first, coherent;
    const char *engine; /* more options of the engine; may be empty */
} options = {1, 20000, 2000, 100, UINT64_MAX, 1, BOTH_WAYS, 0, 0, ""};

static struct test_case current;
static uint64_t cases, failures;

static bool parse(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint64_t *to;
    } known[] = {{"--seed", &options.seed},         {"--count", &options.count},
                 {"--permutes", &options.permutes}, {"--only", &options.only},
                 {"--large", &options.large},       {"--interrupt", &options.interrupt},
                 {"--percent", &options.percent},   {"--first", &options.first},
                 {"--coherent", &options.coherent}};

    for (int i = 1; i < argc; i += 2) {
        uint64_t *to = NULL;
        char *end = argv[i];

        if (!strcmp(argv[i], "--options") && i + 1 < argc) {
            options.engine = argv[i + 1];
            continue;
        }
        for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++) {
            if (!strcmp(argv[i], known[k].name))
                to = known[k].to;
        }
        if (to && i + 1 < argc)
            *to = strtoull(argv[i + 1], &end, 0);
        if (!to || i + 1 == argc || *end || end == argv[i + 1]) {
            printf("%s: option not known, or without a number\n", argv[i]);
            return false;
        }
    }
    options.count = (options.count * options.percent + 99) / 100;
    options.permutes = (options.permutes * options.percent + 99) / 100;
    return options.large <= 100 && options.percent <= 100 && options.interrupt <= BOTH_WAYS &&
           options.first <= MLI_MOV_MAX_CHANNELS - CASE_CHANNELS_MAX;
}

static void run_case(uint64_t index, uint64_t way, struct lab *lab)
{
    struct test_case *c = &current;
    bool intact;

    memset(c, 0, sizeof(*c));
    c->seed = options.seed;
    c->index = index;
    c->lab = lab;
    c->large_percent = (uint32_t)options.large;
    c->stage = "generate";
    c->draw = draw_init(options.seed, index);
    if (index >= FIRST_PERMUTE)
        case_generate_permute(c);
    else
        case_generate(c);
    if (draw_percent(&c->draw, ILLEGAL_PERCENT))
        case_mutate(c);
    cases++;
    (void)case_run(c);
    intact = guards_intact();
    if (!intact)
        case_fail(c, "bytes beside the buffers were written");
    if (!c->failed)
        return;
    failures++;
    printf("  reproduce: --seed %" PRIu64 " --only %" PRIu64 " --large %" PRIu64
           " --interrupt %" PRIu64 "\n",
           options.seed, index, options.large, way);
    if (!intact)
        board_exit(1); /* the next cases would also fail */
}

static void run_cases(uint64_t way, struct lab *lab)
{
    if (options.only != UINT64_MAX) {
        run_case(options.only, way, lab);
        case_print(stdout, &current);
        return;
    }
    for (uint64_t i = 0; i < options.count && failures < MOST_FAILURES; i++)
        run_case(i, way, lab);
    for (uint64_t i = 0; i < options.permutes && failures < MOST_FAILURES; i++)
        run_case(FIRST_PERMUTE + i, way, lab);
}

/* Chooses the engine, makes it complete transfers in the given way (polling or interrupts), and
 * gives all its channels to the pool. */
static bool set_up(uint64_t way)
{
    char spec[128];

    (void)snprintf(spec, sizeof(spec), "%s:interrupt=%u%s%s", board_engine->name, (unsigned)way,
                   *options.engine ? "," : "", options.engine);
    if (mli_mov_set_engine(spec) == MLI_STATUS_OK &&
        mli_mov_set_num_dma_ch((int)options.first, CASE_CHANNELS_MAX) == MLI_STATUS_OK)
        return true;
    printf("%s: %s\n", spec, mli_last_error());
    return false;
}

/* Adds up the counters of all channels. Returns the number of channels that were used. */
static uint32_t all_channels(mli_mov_channel_stats *sum)
{
    uint32_t used = 0;

    *sum = (mli_mov_channel_stats){0};
    for (int i = 0; i < CASE_CHANNELS_MAX; i++) {
        mli_mov_channel_stats stats;

        if (mli_mov_get_channel_stats((int)options.first + i, &stats) != MLI_STATUS_OK)
            continue;
        sum->completed += stats.completed;
        sum->bytes += stats.bytes;
        sum->cpu_bytes += stats.cpu_bytes;
        used += stats.completed > 0;
    }
    return used;
}

/* Runs all cases and scenes, with polling or with interrupts. Returns whether all passed. */
static bool run_way(uint64_t way, struct lab *lab)
{
    const uint32_t interrupts_before = board_dma_interrupts;
    const uint64_t failures_before = failures, cases_before = cases, began = board_time_ns();
    struct scene_count scenes = {0};
    mli_mov_channel_stats sum;
    uint32_t interrupts, channels;

    if (!set_up(way))
        return false;
    (void)board_interrupts(way == 1);
    if (!first_transfer((uint32_t)options.first))
        return false;
    run_cases(way, lab);
    channels = all_channels(&sum);
    interrupts = board_dma_interrupts - interrupts_before;
    if (options.only == UINT64_MAX)
        scenes_play((uint32_t)options.first, CASE_CHANNELS_MAX, &scenes);
    (void)board_interrupts(false);
    (void)mli_mov_set_num_dma_ch(0, 0);
    printf("%s: %" PRIu64 " cases, %" PRIu64 " failed; %" PRIu64 " work items of %" PRIu64
           " B (%" PRIu64 " B by the processor) on %u channels, %u interrupts; scenes: %u passed, "
           "%u failed, %u skipped; %" PRIu64 " ms\n",
           way ? "interrupt" : "polled", cases - cases_before, failures - failures_before,
           sum.completed, sum.bytes, sum.cpu_bytes, (unsigned)channels, (unsigned)interrupts,
           (unsigned)scenes.passed, (unsigned)scenes.failed, (unsigned)scenes.skipped,
           (board_time_ns() - began) / 1000000);
    if ((interrupts > 0) != (way == 1) && sum.completed > 0) {
        printf("  FAILED: %u interrupts\n", (unsigned)interrupts);
        return false;
    }
    return failures == failures_before && scenes.failed == 0;
}

int main(int argc, char **argv)
{
    struct lab lab;
    bool passed = true;

    if (!parse(argc, argv))
        return 2;
    if (lab_init(&lab) != 0 || mli_mov_add_engine(board_engine) != MLI_STATUS_OK) {
        printf("no memory for the cases, or no engine: %s\n", mli_last_error());
        return 2;
    }
    if (options.coherent)
        (void)mli_mov_set_platform(NULL);
    printf("board %s, engine %s, seed %" PRIu64 "\n", board_name, board_engine->name, options.seed);
    for (uint64_t way = 0; way < BOTH_WAYS; way++) {
        if (options.interrupt == BOTH_WAYS || options.interrupt == way)
            passed &= run_way(way, &lab);
    }
    printf("property %s: %s, %" PRIu64 " cases, %" PRIu64 " failed\n", board_name,
           passed ? "passed" : "FAILED", cases, failures);
    return !passed;
}
