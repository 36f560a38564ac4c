/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares random moves and permutes with the oracle.
 *
 *   test_moves [--seed N] [--count MOVES] [--permutes PERMUTES] [--only INDEX]
 *              [--large PERCENT] [--engine SPEC] [--tunings 1]
 *
 * Every case depends on (seed, index) alone. To repeat a failed case, give --seed, --only and the
 * same --large, --engine and --tunings. With --tunings each case has a random tuning of the
 * kernels. An engine is one of the library or of libmli/port/ports.c with its options. Permutes are
 * counted from FIRST_PERMUTE on.
 */
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "libmli/port/ports.h"
#include "tests/property/property_options.h"
#include "tests/property/random_case.h"
#include "tests/support/any_tuning.h"

#define FIRST_PERMUTE   UINT64_C(1000000000)
#define ILLEGAL_PERCENT 20
#define MOST_FAILURES   5
#define POOL_CHANNELS   CASE_CHANNELS_MAX

struct totals {
    uint64_t cases, failures;
    uint64_t by_status[16];
    uint64_t by_via[VIA_COUNT];
};

static struct test_case current; /* the current case, for the report after a crash */
static const char *program;
static const char *engine; /* engine of the run; null: the default engine */
static bool has_tunings;   /* true: each case has a tuning of its own */

static void print_rerun(FILE *to)
{
    fprintf(to, "  reproduce: %s --seed %" PRIu64 " --only %" PRIu64 " --large %u%s%s%s\n", program,
            current.seed, current.index, current.large_percent, engine ? " --engine " : "",
            engine ? engine : "", has_tunings ? " --tunings 1" : "");
}

/*
 * printf() is not async-signal-safe. The process is about to end anyway, and the report of the case
 * is worth more than that rule.
 */
static void on_crash(int signal_number)
{
    signal(signal_number, SIG_DFL);
    printf("\nsignal %d: an access outside the buffers, or worse\n", signal_number);
    case_print(stdout, &current);
    print_rerun(stdout);
    fflush(stdout);
    raise(signal_number);
}

/* Sets the tuning of a case. No transfer runs between two cases. */
static bool set_tuning(uint64_t seed, uint64_t index)
{
    const mli_tuning tuning = any_tuning(seed, index);

    if (mli_tuning_set(&tuning) == MLI_STATUS_OK)
        return true;
    printf("tuning refused: %s\n", mli_last_error());
    any_tuning_print(&tuning);
    return false;
}

static void run_case(const struct options *options, uint64_t index, struct lab *lab,
                     struct totals *totals)
{
    struct test_case *c = &current;

    memset(c, 0, sizeof(*c));
    *c = (struct test_case){.seed = options->seed,
                            .index = index,
                            .lab = lab,
                            .large_percent = (uint32_t)options->large,
                            .stage = "generate"};
    c->draw = draw_init(options->seed, index);
    if (index >= FIRST_PERMUTE)
        case_generate_permute(c);
    else
        case_generate(c);
    if (draw_percent(&c->draw, ILLEGAL_PERCENT))
        case_mutate(c);
    if (has_tunings && !set_tuning(options->seed, index))
        totals->failures++;
    totals->cases++;
    totals->by_status[c->expected.status]++;
    totals->by_via[c->via]++;
    if (!case_run(c)) {
        totals->failures++;
        print_rerun(stdout);
    }
}

static void run_all(const struct options *options, struct lab *lab, struct totals *totals)
{
    if (options->only_one) {
        run_case(options, options->only, lab, totals);
        case_print(stdout, &current);
        return;
    }
    for (uint64_t i = 0; i < options->count && totals->failures < MOST_FAILURES; i++)
        run_case(options, i, lab, totals);
    for (uint64_t i = 0; i < options->permutes && totals->failures < MOST_FAILURES; i++)
        run_case(options, FIRST_PERMUTE + i, lab, totals);
}

/* Checks that a run had both refused and legal cases, because otherwise it would prove nothing. */
static bool reached_everything(const struct options *options, const struct totals *totals)
{
    static const mli_status expected[] = {MLI_STATUS_OK,
                                          MLI_STATUS_BAD_TENSOR,
                                          MLI_STATUS_SHAPE_MISMATCH,
                                          MLI_STATUS_BAD_FUNC_CFG,
                                          MLI_STATUS_INCOMPATEBLE_TENSORS,
                                          MLI_STATUS_NOT_ENGH_MEM,
                                          MLI_STATUS_NOT_SUPPORTED,
                                          MLI_STATUS_SPEC_PARAM_MISMATCH,
                                          MLI_STATUS_TYPE_MISMATCH};
    bool all = true;

    if (options->only_one || options->count < 50000 || options->permutes < 5000)
        return true;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        if (totals->by_status[expected[i]] < 20) {
            printf("too few cases with %s\n", mli_status_name(expected[i]));
            all = false;
        }
    }
    if (totals->by_status[MLI_STATUS_OK] * 100 < totals->cases * 65) {
        printf("too few legal cases\n");
        all = false;
    }
    return case_mutations_unused(stdout) == 0 && all;
}

static void print_totals(const struct totals *totals)
{
    printf("%" PRIu64 " cases, %" PRIu64 " failed\n", totals->cases, totals->failures);
    for (int s = 0; s < 16; s++) {
        if (totals->by_status[s])
            printf("  %-32s %" PRIu64 "\n", mli_status_name((mli_status)s), totals->by_status[s]);
    }
    printf("  sync %" PRIu64 ", async %" PRIu64 ", twice %" PRIu64 ", callback %" PRIu64
           ", permute %" PRIu64 "\n",
           totals->by_via[VIA_SYNC], totals->by_via[VIA_ASYNC], totals->by_via[VIA_TWICE],
           totals->by_via[VIA_CALLBACK], totals->by_via[VIA_PERMUTE]);
}

/* Chooses the given engine and sets its channels. */
static bool set_up_pool(void)
{
    ports_add();
    return (!engine || mli_mov_set_engine(engine) == MLI_STATUS_OK) &&
           mli_mov_set_num_dma_ch(0, POOL_CHANNELS) == MLI_STATUS_OK;
}

int main(int argc, char **argv)
{
    struct options options = {.count = 60000, .permutes = 6000, .large = 8};
    struct totals totals = {0};
    struct lab lab;

    program = argv[0];
    if (!options_parse(&options, argc, argv))
        return 2;
    engine = options.engine;
    has_tunings = options.tunings > 0;
    if (!set_up_pool()) {
        fprintf(stderr, "cannot set the engine or its channels: %s\n", mli_last_error());
        return 2;
    }
    if (lab_init(&lab) != 0) {
        fprintf(stderr, "cannot allocate memory\n");
        return 2;
    }
    signal(SIGSEGV, on_crash);
    signal(SIGBUS, on_crash);
    signal(SIGABRT, on_crash);
    signal(SIGFPE, on_crash);
    run_all(&options, &lab, &totals);
    print_totals(&totals);
    lab_finish(&lab);
    return totals.failures || !reached_everything(&options, &totals);
}
