/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random moves on boards: for each built-in profile the descriptors of target/controller are
 * written to a model of the board's memory, a decoder executes them, and all of the memory is
 * compared with the oracle. The named fields of each descriptor must make its bytes. Without a
 * known controller the descriptors are the pieces themselves.
 *
 *   test_controllers [--profile NAME] [--seed N] [--count MOVES] [--only INDEX]
 *
 * Each profile runs MOVES moves. A case depends only on (seed, index). One case in MUTANT_ONCE_IN
 * is executed again with a flipped bit in a descriptor: most of these mutants must be noticed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/profile/profile_load.h"
#include "tests/property/property_options.h"
#include "tests/target/board_case.h"
#include "tests/target/decoder.h"
#include "tests/target/field_bytes.h"

enum {
    MOST_FAILURES = 5,
    MUTANT_ONCE_IN = 8,
    MUTANTS = 4,
    MUTANT_BYTES = 64 * 1024,
    NOTICED_PERCENT = 50, /* minimum of noticed mutants */
    ENOUGH = 2000,        /* the totals are checked only after so many moves */
    FAR_BYTES = 64 << 20,
    CORE_BYTES = 256 << 10,
    LEAST_PAST = 1, /* minimum number of moves that exceed a limit, for each limit */
};

/* A bit of a descriptor to flip; number UINT64_MAX: no descriptor. */
struct mutant {
    uint64_t number; /* number of the descriptor in the list */
    uint32_t bit;
};

/* The result of executing a list once. */
struct outcome {
    bool too_long;                  /* the list does not fit into the memory for lists */
    uint64_t descriptors, executed; /* descriptors made, and executed (0 for programs) */
    uint64_t differ; /* number of descriptors whose bytes do not follow from their fields */
    uint64_t core, core_bytes;
    uint64_t wrong, first; /* number of bytes that differ; address of the first one */
};

/* Limits of descriptors that moves must exceed, and their names in profiles. */
enum { PAST_COUNT, PAST_RUN, PAST_LINEAR, PAST_STEP, PAST_BYTES, PAST_LOOPS, PAST_LIMITS };
static const char *const past_words[PAST_LIMITS] = {
    "count_max", "run_max", "run_max without loops", "step_max", "bytes_max", "loops"};

struct totals {
    uint64_t past[PAST_LIMITS];
    uint64_t moves, failures, skipped, descriptors, core, bytes, core_bytes, wrong;
    uint64_t mutants, noticed;
    uint64_t compared, legalised, listed; /* moves; libmli's descriptors; the list's descriptors */
};

struct bench {
    const struct target_profile *profile;
    const struct decoder *decoder;
    struct board board;
    struct totals totals;
    bool failed; /* true: the current case failed */
};

static void fail(struct bench *b, const struct board_case *c, const char *what)
{
    if (!b->failed)
        board_case_print(c);
    printf("    %s\n", what);
    b->failed = true;
}

static void flip(struct controller_descriptor *descriptor, const struct mutant *mutant)
{
    if (descriptor->size > 0) {
        const uint32_t bit = mutant->bit % (8 * (uint32_t)descriptor->size);

        descriptor->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    if (descriptor->field_count > 0)
        descriptor->field[mutant->bit / 64 % descriptor->field_count].value ^= UINT64_C(1)
                                                                               << mutant->bit % 64;
}

/*
 * Writes a descriptor to the board's memory. If the controller has no chains, executes the
 * descriptor at once.
 */
static bool give(struct bench *b, const struct controller_descriptor *descriptor)
{
    if (b->decoder->one)
        return b->decoder->one(&b->board, descriptor);
    return board_put(&b->board, descriptor->address, descriptor->bytes, descriptor->size);
}

/*
 * Makes the list. Moves the pieces of the core at once; if the controller has no chains, also its
 * pieces.
 */
static bool execute_list(struct bench *b, const struct board_case *c, const struct mutant *mutant,
                         struct outcome *o)
{
    struct descriptor_list list;
    struct list_entry entry;
    uint64_t first = 0;

    list_init(&list, b->profile, &c->explained.plan, c->list.begin, c->zeros);
    while (list_next(&list, &entry)) {
        struct controller_descriptor *descriptor = &entry.descriptor;

        if (entry.mover == MOVER_CORE) {
            o->core++;
            o->core_bytes += entry.piece.bytes;
            if (!board_move_piece(&b->board, PROFILE_CORE, &entry.piece))
                return false;
            continue;
        }
        if (!list.controller) {
            o->descriptors++;
            if (!board_move_piece(&b->board, PROFILE_DMA, &entry.piece))
                return false;
            continue;
        }
        if (b->decoder->chain && descriptor->address + 2 * CONTROLLER_BYTES_MAX > c->list.end) {
            o->too_long = true;
            return true;
        }
        if (field_bytes_differ(b->profile->dma.controller, descriptor))
            o->differ++;
        if (o->descriptors == mutant->number)
            flip(descriptor, mutant);
        if (o->descriptors++ == 0)
            first = descriptor->address;
        if (!give(b, descriptor))
            return false;
    }
    if (list.controller && b->decoder->chain && o->descriptors > 0)
        return b->decoder->chain(&b->board, first, &o->executed);
    o->executed = o->descriptors;
    return true;
}

static struct outcome execute(struct bench *b, const struct board_case *c,
                              const struct mutant *mutant)
{
    struct outcome o = {0};

    board_case_begin(c, &b->board);
    execute_list(b, c, mutant, &o);
    if (!o.too_long)
        o.wrong = board_difference(&b->board, &o.first);
    return o;
}

static void check_outcome(struct bench *b, const struct board_case *c, const struct outcome *o)
{
    const struct list_count count = list_count(b->profile, &c->explained.plan);
    char text[160];

    if (b->board.fault[0] != '\0')
        fail(b, c, b->board.fault);
    if (o->wrong > 0) {
        snprintf(text, sizeof text, "%" PRIu64 " bytes are wrong, the first at 0x%" PRIx64,
                 o->wrong, o->first);
        fail(b, c, text);
    }
    if (o->differ > 0) {
        snprintf(text, sizeof text, "the fields of %" PRIu64 " descriptors are not their bytes",
                 o->differ);
        fail(b, c, text);
    }
    if (b->failed)
        return;
    if (o->executed != o->descriptors && o->executed != 0) {
        snprintf(text, sizeof text, "%" PRIu64 " descriptors made, %" PRIu64 " executed",
                 o->descriptors, o->executed);
        fail(b, c, text);
    }
    if (c->zeros != 0 && /* list_count() expects zeros in memory */
        (count.descriptors != o->descriptors || count.core != o->core ||
         count.core_bytes != o->core_bytes || count.least > count.descriptors)) {
        snprintf(text, sizeof text,
                 "%" PRIu64 " descriptors and %" PRIu64 " pieces of the core made, %" PRIu64
                 " and %" PRIu64 " counted, at least %" PRIu64,
                 o->descriptors, o->core, count.descriptors, count.core, count.least);
        fail(b, c, text);
    }
}

static bool is_reached(const struct target_profile *profile, uint64_t address)
{
    const struct profile_memory *memory = profile_memory_at(profile, address);

    return memory && memory->reached_by & PROFILE_DMA;
}

/* Returns the capabilities that an engine for the controller reports to libmli for copies. */
static struct mli_channel_caps engine_caps(const struct target_profile *profile,
                                           const struct controller *controller)
{
    struct mli_channel_caps caps = controller_caps(profile, controller, false);

    caps.flags = MLI_CHANNEL_ANY_LOOPS;
    if (!controller)
        return caps;
    if (caps.loops > 0)
        caps.linear_max = (size_t)controller->linear_run_max;
    caps.gap_max = (size_t)controller->gap_max;
    if (controller->distinct_rows)
        caps.flags |= MLI_CHANNEL_DISTINCT_ROWS;
    return caps;
}

/*
 * Compares the list with the pieces of libmli's legaliser for an engine of this controller: the
 * processor must move the same bytes, and the list must not have more descriptors.
 */
static void compare_with_legaliser(struct bench *b, const struct board_case *c)
{
    const struct controller *controller = controller_of(b->profile);
    const struct mli_channel_caps caps = engine_caps(b->profile, controller);
    struct mli_plan copy = c->explained.plan;
    struct mli_piece_counts legal;
    struct list_count list;
    char text[200];

    copy.slabs = 0;
    if (copy.box.run == 0 || !is_reached(b->profile, c->src) || !is_reached(b->profile, c->dst))
        return;
    list = list_count(b->profile, &copy);
    mli_legalise_pieces(&copy, &caps, &legal);
    if (controller && controller->refuses && list.core_bytes != legal.cpu_bytes)
        return; /* the legaliser cuts refused pieces again; the list leaves them to the core */
    b->totals.compared++;
    b->totals.legalised += legal.descriptors;
    b->totals.listed += list.descriptors;
    if (list.core_bytes == legal.cpu_bytes && list.descriptors <= legal.descriptors &&
        (caps.loops > 0 || list.descriptors == legal.descriptors))
        return;
    snprintf(text, sizeof text,
             "libmli's legaliser makes %" PRIu64 " descriptors and leaves %" PRIu64
             " bytes to the processor; the list has %" PRIu64 " and %" PRIu64,
             legal.descriptors, legal.cpu_bytes, list.descriptors, list.core_bytes);
    fail(b, c, text);
}

static void run_mutants(struct bench *b, struct board_case *c, uint64_t descriptors)
{
    for (uint32_t i = 0; i < MUTANTS; i++) {
        const struct mutant mutant = {.number = draw_next(&c->draw) % descriptors,
                                      .bit = draw_below(&c->draw, 8 * CONTROLLER_BYTES_MAX)};
        const struct outcome o = execute(b, c, &mutant);

        b->totals.mutants++;
        b->totals.noticed += b->board.fault[0] != '\0' || o.wrong > 0 ||
                             (o.executed != o.descriptors && o.executed != 0);
    }
}

/* Returns the limit, or 0 if it is too large for the moves of the test or for the memories. */
static size_t reachable(const struct target_profile *profile, size_t limit, size_t most)
{
    for (uint32_t i = 0; i < profile->memory_count; i++)
        if (limit <= most && limit < profile->memories[i].size / 2)
            return limit;
    return 0;
}

/* Returns the limits of a profile, with 0 for limits that no move of the test exceeds. */
static struct mli_channel_caps reachable_limits(const struct target_profile *profile, bool fill)
{
    struct mli_channel_caps caps = controller_caps(profile, controller_of(profile), fill);

    caps.run_max = reachable(profile, caps.run_max, LIMIT_RUN_MOST);
    caps.bytes_max = reachable(profile, caps.bytes_max, LIMIT_RUN_MOST);
    caps.step_max = reachable(profile, caps.step_max, SIZE_MAX);
    return caps;
}

/* Returns the maximum run of a descriptor without loops; 0: no limit. */
static size_t linear_limit(const struct target_profile *profile)
{
    const struct controller *controller = controller_of(profile);

    return controller && controller->linear_run_max > profile->dma.run_max
               ? (size_t)controller->linear_run_max
               : (size_t)profile->dma.run_max;
}

static void note_limits(struct totals *t, const struct target_profile *profile,
                        const struct mli_copy_box *box)
{
    const struct mli_channel_caps caps = reachable_limits(profile, !box->src);
    const size_t linear = linear_limit(profile);
    size_t bytes = box->run, count = 0, step = 0;

    for (size_t i = 0; i < box->loops; i++) {
        const struct mli_copy_loop *loop = &box->loop[i];

        bytes *= loop->count;
        count = loop->count > count ? loop->count : count;
        step = loop->src_step > step ? loop->src_step : step;
        step = loop->dst_step > step ? loop->dst_step : step;
    }
    t->past[PAST_COUNT] += caps.count_max && count > caps.count_max;
    t->past[PAST_RUN] += caps.run_max && box->loops > 0 && box->run > caps.run_max;
    t->past[PAST_LINEAR] += linear && box->loops == 0 && box->run > linear;
    t->past[PAST_STEP] += caps.step_max && step > caps.step_max;
    t->past[PAST_BYTES] += caps.bytes_max && bytes > caps.bytes_max;
    t->past[PAST_LOOPS] += box->loops > caps.loops;
}

/*
 * Checks that some moves exceeded each limit of the profile. The limit of runs without loops is not
 * checked: a short test does not reach it.
 */
static bool reached_limits(const struct totals *t, const struct target_profile *profile)
{
    const struct mli_channel_caps caps = reachable_limits(profile, false);
    const uint64_t limits[PAST_LIMITS] = {
        caps.loops ? caps.count_max : 0, caps.run_max,   0,
        caps.loops ? caps.step_max : 0,  caps.bytes_max, caps.loops < MLI_MAX_RANK};
    bool all = true;

    for (size_t i = 0; i < PAST_LIMITS; i++) {
        if (limits[i] == 0 || t->past[i] >= LEAST_PAST)
            continue;
        printf("%s: only %" PRIu64 " moves exceed %s\n", profile->name, t->past[i], past_words[i]);
        all = false;
    }
    return all;
}

static void run_case(struct bench *b, const struct options *options, uint64_t index)
{
    static const struct mutant none = {.number = UINT64_MAX};
    static struct board_case c;
    const char *why;
    struct outcome o;

    b->failed = false;
    b->totals.moves++;
    if (!board_case_draw(&c, b->profile, options->seed, index, &why)) {
        fail(b, &c, why);
    } else {
        note_limits(&b->totals, b->profile, &c.explained.plan.box);
        o = execute(b, &c, &none);
        if (o.too_long)
            b->totals.skipped++;
        else
            check_outcome(b, &c, &o);
        compare_with_legaliser(b, &c);
        b->totals.descriptors += o.descriptors;
        b->totals.core += o.core;
        b->totals.bytes += o.too_long ? 0 : c.explained.plan.bytes;
        b->totals.core_bytes += o.too_long ? 0 : o.core_bytes;
        b->totals.wrong += o.wrong;
        if (!b->failed && !o.too_long && o.descriptors > 0 && index % MUTANT_ONCE_IN == 0 &&
            controller_of(b->profile) && c.explained.plan.bytes < MUTANT_BYTES)
            run_mutants(b, &c, o.descriptors);
    }
    if (b->failed) {
        b->totals.failures++;
        printf("  reproduce: test_controllers --profile %s --seed %" PRIu64 " --only %" PRIu64 "\n",
               b->profile->name, options->seed, index);
    }
}

/*
 * Checks that the test can find faults: the controller must have moved most bytes, and most mutants
 * must have been noticed.
 */
static bool proved(const struct totals *t, const struct target_profile *profile)
{
    if (t->moves < ENOUGH)
        return true;
    if (t->core_bytes / 3 > t->bytes / 4 || t->skipped * 20 > t->moves) {
        printf("too few moves of the controller\n");
        return false;
    }
    if (t->noticed * 100 < t->mutants * NOTICED_PERCENT) {
        printf("too few mutants were noticed\n");
        return false;
    }
    return reached_limits(t, profile);
}

static bool run_profile(const struct target_profile *profile, const struct options *options)
{
    struct bench b = {.profile = profile, .decoder = decoder_of(profile)};
    struct totals *t = &b.totals;

    if (board_init(&b.board, profile) != 0) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    if (options->only_one)
        run_case(&b, options, options->only);
    for (uint64_t i = 0; !options->only_one && i < options->count && t->failures < MOST_FAILURES;
         i++)
        run_case(&b, options, i);
    board_finish(&b.board);
    printf("%s: %" PRIu64 " moves, %" PRIu64 " failed, %" PRIu64 " wrong bytes of %" PRIu64
           "; %" PRIu64 " descriptors, %" PRIu64 " pieces (%" PRIu64 " bytes) by the core, %" PRIu64
           " lists too long; %" PRIu64 " of %" PRIu64 " mutants noticed\n",
           profile->name, t->moves, t->failures, t->wrong, t->bytes, t->descriptors, t->core,
           t->core_bytes, t->skipped, t->noticed, t->mutants);
    for (size_t i = 0; i < PAST_LIMITS; i++)
        printf("%s%" PRIu64 " past %s", i ? ", " : "  moves: ", t->past[i], past_words[i]);
    printf("\n  libmli's legaliser: %" PRIu64 " moves compared, %" PRIu64
           " descriptors; the lists have %" PRIu64 "\n",
           t->compared, t->legalised, t->listed);
    fflush(stdout);
    return t->failures == 0 && proved(t, profile);
}

/* Adds a memory at the controller's highest addresses, so that all address bits are used. */
static void add_far_memory(struct target_profile *profile)
{
    const uint32_t bits = profile->dma.address_bits;
    struct profile_memory far = {.name = "far",
                                 .size = FAR_BYTES,
                                 .banks = 1,
                                 .alignment = 1,
                                 .reached_by = PROFILE_CORE | PROFILE_DMA};

    if (bits < 32 || bits > 48 || profile->memory_count == PROFILE_MEMORIES_MAX)
        return;
    far.base = (UINT64_C(1) << bits) - FAR_BYTES;
    for (uint32_t i = 0; i < profile->memory_count; i++)
        if (profile->memories[i].base + profile->memories[i].size > far.base)
            return;
    profile->memories[profile->memory_count++] = far;
}

/* Adds a memory that the controller does not reach: the core moves tensors in this memory. */
static void add_core_memory(struct target_profile *profile)
{
    struct profile_memory core = {.name = "core-only",
                                  .base = UINT64_C(1) << 20,
                                  .size = CORE_BYTES,
                                  .banks = 1,
                                  .alignment = 1,
                                  .reached_by = PROFILE_CORE};

    if (profile->memory_count == PROFILE_MEMORIES_MAX)
        return;
    for (uint32_t i = 0; i < profile->memory_count; i++)
        if (profile->memories[i].base < core.base + CORE_BYTES)
            return;
    profile->memories[profile->memory_count++] = core;
}

/* Runs all built-in profiles, or only one. Returns how many failed, or -1. */
static int run_profiles(const char *name, const struct options *options)
{
    static struct target_profile profile;
    struct fault fault;
    int failed = 0, known = 0;

    for (const struct profile_text *p = profile_built_in; p->name; p++) {
        if (name && strcmp(name, p->name) != 0)
            continue;
        if (profile_load(&profile, p->name, &fault) < 0) {
            fprintf(stderr, "%s: %s\n", p->name, fault.text);
            return -1;
        }
        known++;
        if (profile.dma.controller != PROFILE_BOXES &&
            (!controller_of(&profile) || !decoder_of(&profile))) {
            fprintf(stderr, "%s: its controller has no encoder or no decoder\n", p->name);
            return -1;
        }
        add_far_memory(&profile);
        add_core_memory(&profile);
        failed += !run_profile(&profile, options);
    }
    if (known == 0)
        fprintf(stderr, "no such profile\n");
    return known > 0 ? failed : -1;
}

/* Removes --profile NAME from the arguments. Returns NAME, or null if the option is absent. */
static const char *take_profile(int *argc, char **argv)
{
    for (int i = 1; i + 1 < *argc; i += 2) {
        const char *name = argv[i + 1];

        if (strcmp(argv[i], "--profile") != 0)
            continue;
        for (*argc -= 2; i < *argc; i++)
            argv[i] = argv[i + 2];
        return name;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct options options = {.count = 2000};
    const char *name = take_profile(&argc, argv);
    int failed;

    if (!options_parse(&options, argc, argv))
        return 2;
    failed = run_profiles(name, &options);
    return failed < 0 ? 2 : failed > 0;
}
