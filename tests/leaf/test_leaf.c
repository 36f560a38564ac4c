/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the leaf kernels of one level with a loop over bytes.
 *
 * test_leaf LEVEL [--seed N] [--count RANDOM_CASES] [--only INDEX] [--tunings] test_leaf LEVEL
 * --bench
 *
 * Every case depends on (seed, index) alone: to repeat a failed case, give --seed and --only. If
 * the processor lacks the level, the program exits with 77, which meson reports as skipped.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "leaf_levels.h"
#include "libmli/src/exec/leaf.h"
#include "tests/leaf/bench.h"
#include "tests/leaf/leaf_cases.h"
#include "tests/support/any_tuning.h"
#include "tests/support/scale.h"

enum { SKIPPED = 77, MOST_FAILURES = 5 };

enum { LEVELS = sizeof(levels) / sizeof(levels[0]) };

struct options {
    const char *level;
    uint64_t seed, count, only;
    bool only_one, bench;
    bool tunings; /* true: each case has a random tuning */
};

struct run {
    struct options options;
    const char *program;
    const struct leaf_table *leaf;
    struct ground ground;
    struct site site; /* place of the current case, for the report of a crash */
    uint64_t index;
    uint64_t cases[LEAF_KINDS], failures;
};

static struct run run;

static void print_case(void)
{
    static const char *const places[] = {"left", "right", "slid", "pages left", "pages right"};
    const struct site *site = &run.site;

    printf("level %s: ", run.options.level);
    shape_print(stdout, &site->shape);
    printf("\n  dst %p (%s), src %p (%s)\n  reproduce: %s %s --seed %" PRIu64 " --only %" PRIu64
           "%s\n",
           (void *)site->dst, places[site->dst_place], (const void *)site->src,
           places[site->src_place], run.program, run.options.level, run.options.seed, run.index,
           run.options.tunings ? " --tunings" : "");
}

/*
 * printf() is not async-signal-safe. The process is about to end anyway, and the report of the case
 * is worth more than that rule.
 */
static void on_crash(int signal_number, siginfo_t *info, void *context)
{
    const struct site *site = &run.site;
    const intptr_t at = (intptr_t)info->si_addr;

    (void)context;
    signal(signal_number, SIG_DFL);
    printf("\nsignal %d at %p, byte %" PRIdPTR " of dst, %" PRIdPTR " of src\n", signal_number,
           info->si_addr, at - (intptr_t)site->dst, at - (intptr_t)site->src);
    print_case();
    fflush(stdout);
    raise(signal_number);
}

static void catch_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO};

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &action, NULL);
}

static void fail(const char *what)
{
    printf("\n%s\n", what);
    print_case();
    run.failures++;
}

/* Returns false if no further case is to run. */
static bool run_case(void *context, uint64_t index, const struct site *site)
{
    ptrdiff_t at;
    char text[64];

    (void)context;
    if ((run.options.only_one && index != run.options.only) ||
        !shape_is_known(&site->shape, run.leaf))
        return true;
    run.index = index;
    run.site = *site;
    if (!ground_place(&run.ground, &run.site)) {
        fail("no room for this case: the test is wrong");
        return false;
    }
    if (run.options.tunings) {
        const mli_tuning tuning = any_tuning(run.options.seed, index);

        (void)mli_tuning_set(&tuning);
    }
    ground_prepare(&run.ground, &run.site);
    shape_run(&run.site.shape, run.leaf, run.site.dst, run.site.src);
    run.cases[site->shape.kind]++;
    if (!ground_holds(&run.ground, &run.site, &at)) {
        snprintf(text, sizeof(text), "byte %td of dst is wrong", at);
        fail(text);
    } else if (run.options.only_one) {
        print_case();
    }
    return !run.options.only_one && run.failures < MOST_FAILURES;
}

static bool run_swept(void *context, uint64_t index, const struct site *site)
{
    if (!run.options.only_one && !sampled(run.options.seed, index))
        return true;
    return run_case(context, index, site);
}

static void run_random(uint64_t index)
{
    const struct site site = cases_random(run.options.seed, index);

    run_case(NULL, index, &site);
}

static void run_all(void)
{
    const struct options *options = &run.options;

    if (options->only_one && options->only >= CASES_RANDOM) {
        run_random(options->only);
        return;
    }
    cases_sweep(options->seed, run_swept, NULL);
    if (options->only_one)
        return;
    for (uint64_t i = 0; i < options->count && run.failures < MOST_FAILURES; i++)
        run_random(CASES_RANDOM + i);
}

static bool number(const char *text, uint64_t *to)
{
    char *end;

    *to = strtoull(text, &end, 0);
    return *text != '\0' && *end == '\0';
}

static bool parse(struct options *options, int argc, char **argv)
{
    if (argc < 2)
        return false;
    options->level = argv[1];
    for (int i = 2; i < argc; i++) {
        uint64_t *to = !strcmp(argv[i], "--seed")    ? &options->seed
                       : !strcmp(argv[i], "--count") ? &options->count
                       : !strcmp(argv[i], "--only")  ? &options->only
                                                     : NULL;

        options->bench |= !strcmp(argv[i], "--bench");
        options->tunings |= !strcmp(argv[i], "--tunings");
        options->only_one |= to == &options->only;
        if (to ? ++i == argc || !number(argv[i], to)
               : strcmp(argv[i], "--bench") != 0 && strcmp(argv[i], "--tunings") != 0)
            return false;
    }
    return true;
}

/* Returns 0, or the exit code if the level is not available. */
static int choose_level(const char *name)
{
    for (size_t i = 0; i < LEVELS; i++) {
        if (strcmp(levels[i].name, name) != 0)
            continue;
        mli_cpu_set_mask(levels[i].mask);
        if (!strcmp(mli_cpu_level(), name))
            return 0;
        printf("skipped: this processor has no %s\n", name);
        return SKIPPED;
    }
    fprintf(stderr, "%s: not the name of a level\n", name);
    return 2;
}

static void usage(const char *program)
{
    fprintf(stderr,
            "usage: %s LEVEL [--seed N] [--count N] [--only INDEX] [--tunings] [--bench]\nlevels:",
            program);
    for (size_t i = 0; i < LEVELS; i++)
        fprintf(stderr, " %s", levels[i].name);
    fprintf(stderr, "\n");
}

static void print_counts(void)
{
    for (int kind = 0; kind < LEAF_KINDS; kind++)
        printf("%s%" PRIu64 " %s", kind ? ", " : "", run.cases[kind],
               shape_kind_name((enum leaf_kind)kind));
    printf(": %" PRIu64 " failed\n", run.failures);
}

int main(int argc, char **argv)
{
    const uint64_t now = (uint64_t)time(NULL) * 1000 + (uint64_t)getpid() % 1000;
    int refused;

    run = (struct run){.program = argv[0], .options = {.seed = now, .count = 50000}};
    if (!parse(&run.options, argc, argv)) {
        usage(argv[0]);
        return 2;
    }
    run.options.count = scaled(run.options.count);
    refused = choose_level(run.options.level);
    if (refused)
        return refused;
    run.leaf = level_leaf();
    if (run.options.bench)
        return bench_leaves(run.options.level, run.leaf) == 0 ? 0 : 2;
    printf("level %s, seed %" PRIu64 "\n", run.options.level, run.options.seed);
    if (ground_init(&run.ground) != 0) {
        perror("cannot allocate memory");
        return 2;
    }
    catch_crashes();
    run_all();
    print_counts();
    ground_finish(&run.ground);
    return run.failures > 0;
}
