/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl selftest: random moves on every engine, each verified byte by byte. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/command.h"
#include "cli/engine_arg.h"
#include "cli/file/calls.h"
#include "cli/link/boards.h"
#include "cli/link/tuning_choice.h"
#include "cli/selftest/round.h"
#include "cli/term/phrase.h"
#include "cli/term/print.h"
#include "cli/term/terminal.h"
#include "mli_helpers_api.h"

#define SEED_MAX ((UINT64_C(1) << 53) - 1) /* largest seed that a JSON number holds exactly */

enum {
    ITERATIONS = 1000, /* cases for each engine; all engines of a host take two or three seconds */
    BOARD_ITERATIONS = 200, /* default number of cases on a board */
    CHANNELS = 4,
    THREADS = 4,
    TIMEOUT_MS = 5000,
    TIMEOUT_MS_MAX = 3600 * 1000,
    SECONDS_MAX = 30 * 24 * 3600
};
#define MAX_BYTES       (UINT64_C(4) << 20)
#define BOARD_MAX_BYTES (UINT64_C(16) << 10)
#define MAX_BYTES_LEAST UINT64_C(64)
#define MAX_BYTES_MOST  (UINT64_C(256) << 20)

static const struct value mode_value = {VALUE_WORD, case_mode_words};

static const struct option options_table[] = {
    {"engine", "SPEC", "Test this engine alone, as in threads:tiny=0 (default: every engine).",
     .takes = &value_engine},
    {"iterations", "N", "Run N cases on each engine (default: 1000; 1 with --only).", .old = "n"},
    {"seconds", "N", "Run for N seconds, divided among the engines (default: no limit).",
     .old = "t"},
    {"seed", "N", "Use seed N for the random cases (default: a random seed, which is printed)."},
    {"only", "INDEX", "Run this case alone (default: all cases)."},
    {"channels", "N", "Give the pool N DMA channels (default: 4)."},
    {"threads", "N", "Claim channels from N threads (default: 4).", .old = "j"},
    {"max-bytes", "SIZE", "Limit each tensor to this size, 64 to 256MiB (default: 4MiB)."},
    {"mode", "NAME", "Wait for transfers by poll, callback, wait, sync or mixed (default: mixed).",
     .takes = &mode_value},
    {"timeout", "TIME", "Count a transfer as stuck after this time (default: 5s)."},
    {"keep", "DIR", "Write the first failed case as jobs to DIR (default: selftest-SEED-INDEX).",
     .takes = &value_directory},
    {"fail-fast", NULL, "Stop at the first case that fails."},
    BOARDS_OPTION(
        "Test a board at qemu:BOARD or serial:PATH, as in qemu:zynq (default: this process)."),
    TUNING_OPTION,
    OPTIONS_COMMON,
};

_Static_assert(sizeof(options_table) / sizeof(options_table[0]) <= OPTIONS_MAX, "OPTIONS_MAX");

/* Options that change the cases of a seed. */
enum { SHAPING_MAX = 128 };

static void note_shaping(const struct options *options, char out[SHAPING_MAX])
{
    static const char *const shaping[] = {"channels", "max-bytes", "mode"};
    struct phrase phrase = phrase_init(out, SHAPING_MAX);

    for (size_t i = 0; i < sizeof(shaping) / sizeof(shaping[0]); i++) {
        const char *value = options_get(options, shaping[i]);
        if (value)
            phrase_add(&phrase, " --%s %s", shaping[i], value);
    }
}

/* Reads the number of cases, or the total number of seconds for all engines. */
static int read_amount(const struct options *options, struct round_plan *plan, uint64_t *seconds)
{
    const bool timed = options_get(options, "seconds") != NULL;

    if (timed && options_get(options, "iterations"))
        return print_refusal("--seconds cannot be combined with --iterations");
    plan->only_one = options_get(options, "only") != NULL;
    plan->iterations = timed                          ? UINT64_MAX
                       : plan->only_one               ? 1
                       : options_get(options, "host") ? BOARD_ITERATIONS
                                                      : ITERATIONS;
    *seconds = 0;
    return options_uint(options, "only", 0, SEED_MAX, &plan->only) ||
           options_uint(options, "iterations", 1, SEED_MAX, &plan->iterations) ||
           options_number(options, "seconds", UNIT_S, 1, SECONDS_MAX, seconds);
}

static int read_plan(const struct options *options, struct round_plan *plan, uint64_t *seconds)
{
    uint32_t threads = THREADS;
    uint64_t timeout_ms = TIMEOUT_MS;
    size_t mode = CASE_MODE_mixed;

    *plan = (struct round_plan){
        .seed = random_number(),
        .limits = {.max_bytes = options_get(options, "host") ? BOARD_MAX_BYTES : MAX_BYTES,
                   .channels = CHANNELS}};
    if (read_amount(options, plan, seconds) || options_choice(options, "mode", &mode) ||
        options_uint(options, "seed", 0, SEED_MAX, &plan->seed) ||
        options_u32(options, "channels", 1, MLI_MOV_MAX_CHANNELS, &plan->limits.channels) ||
        options_u32(options, "threads", 1, MAILBOXES_MAX, &threads) ||
        options_number(options, "timeout", UNIT_MS, 1, TIMEOUT_MS_MAX, &timeout_ms) ||
        options_number(options, "max-bytes", UNIT_BYTES, MAX_BYTES_LEAST, MAX_BYTES_MOST,
                       &plan->limits.max_bytes))
        return -1;
    plan->limits.mode = (enum case_mode)mode;
    plan->threads = (uint32_t)(threads < plan->iterations ? threads : plan->iterations);
    plan->timeout_ns = timeout_ms * 1000000;
    plan->fail_fast = options_get(options, "fail-fast") != NULL;
    plan->progress = !options_get(options, "quiet") && terminal_draws(STDERR_FILENO);
    return 0;
}

/*
 * Lists three configurations of each engine: its defaults; every transfer on channels, even a tiny
 * one; and every transfer on channels with pieces out of order and late, which is legal. An engine
 * without a device is listed once, so that one line reports it as skipped.
 */
static void list_engines(struct selftest_engines *engines)
{
    const char *name;

    for (int i = 0; (name = mli_mov_engine_at(i)); i++) {
        if (strcmp(name, "fault") == 0)
            continue; /* the engine "fault" wraps another engine */
        selftest_engines_add(engines, "", name, "");
        if (mli_mov_set_engine(name) != MLI_STATUS_OK)
            continue;
        if (strcmp(name, "inline") != 0) /* inline: tiny=0 is the default */
            selftest_engines_add(engines, "", name, ":tiny=0");
        selftest_engines_add(engines, "fault:", name, ",tiny=0,reorder_pct=50,delay_us=50");
    }
}

/* Tests one engine in this process. */
static enum exit_code test_engine(struct round *round, void *context, bool *stop)
{
    const bool *named = context;
    struct selftest_report *report = round->report;
    enum exit_code code = EXIT_CODE_FAILED;

    const enum round_end end = round_run(round);
    *stop = round->lost;
    if (end == ROUND_REFUSED && *named) {
        struct fault fault;
        fault_set(&fault, FAULT_INVALID_PARAMS, NULL, "--engine %s: %s", round->engine,
                  mli_last_error());
        code = print_failure(&report->style, NULL, &fault);
    } else if (end == ROUND_REFUSED) {
        selftest_report_skipped(report, round, mli_last_error());
        code = EXIT_CODE_DONE;
    } else if (end == ROUND_DONE) {
        code = selftest_report_round(report, round);
    }
    round_finish(round);
    return code;
}

static enum exit_code run_all(struct selftest_report *report, struct round_plan *plan,
                              uint64_t seconds, const char *engine)
{
    struct selftest_engines engines = {.count = 0};
    bool named = engine != NULL;

    if (named)
        selftest_engines_add(&engines, "", engine, "");
    else
        list_engines(&engines);
    return selftest_run(report, plan, &engines, seconds, test_engine, &named);
}

/* Checks that the engine of --engine exists and has the channels of --channels. */
static int check_engine(const struct options *options, const char *engine, uint32_t channels,
                        struct fault *fault)
{
    if (engine_arg_check(engine, fault))
        return -1;
    if (mli_mov_set_engine(engine) != MLI_STATUS_OK)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "--%s", mli_last_error());
    if (options_get(options, "channels") &&
        mli_mov_set_num_dma_ch(0, (int)channels) != MLI_STATUS_OK)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "--channels %" PRIu32 ": %s", channels,
                         mli_last_error());
    mli_mov_set_num_dma_ch(0, 0);
    return 0;
}

static enum exit_code selftest(const struct options *options)
{
    static struct round_plan plan; /* static: a thread that never ends may read the plan */
    struct print_style style = options_style(options);
    const char *engine = options_get(options, "engine");
    char shaping[SHAPING_MAX];
    uint64_t seconds;
    struct selftest_report report;
    struct fault fault;

    if (read_plan(options, &plan, &seconds))
        return EXIT_CODE_INVALID;
    const bool remote = options_get(options, "host") != NULL;
    if (engine && !remote && check_engine(options, engine, plan.limits.channels, &fault))
        return print_failure(&style, NULL, &fault);
    note_shaping(options, shaping);
    selftest_report_init(&report, &style);
    report.channels = engine != NULL || remote;
    report.keep = options_get(options, "keep");
    report.defaults = shaping;
    print_line(&style, "seed %" PRIu64, plan.seed);
    print_flush(); /* a crash must not lose the seed */
    const enum exit_code code = remote ? board_calls->selftest(&report, &plan, seconds, options)
                                       : run_all(&report, &plan, seconds, engine);
    selftest_report_finish(&report);
    return code;
}

const struct command cmd_selftest = {
    .name = "selftest",
    .arguments = "",
    .summary = "verify random moves on every engine, byte by byte",
    .details =
        "Seed and index determine a case. The first case that fails is written as a job file,\n"
        "which reproduces it.\n",
    .options = options_table,
    .examples = {{"all engines, for two seconds", "mlictl selftest --seconds 2"},
                 BOARDS_WORDS(
                     {"on a board that QEMU emulates", "mlictl selftest -H qemu:sifive_u"}, ){
                     "reproduce one case",
                     "mlictl selftest --seed 7 --only 4 --engine threads:tiny=0"}},
    .run = selftest,
};
