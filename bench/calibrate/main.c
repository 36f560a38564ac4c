/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench-calibrate: calibrates the costs of an engine as mlictl calibrate does, and prints the
 * errors of the predictions for moves that the calibration has not measured. Exits with 1 if the
 * errors exceed the goal.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/calibrate/plot.h"
#include "target/profile/profile_load.h"

#define GOAL_MEDIAN 0.10
#define GOAL_P95    0.25

static const char help[] =
    "usage: bench-calibrate [--engine SPEC] [--seconds N] [--check N] [--seed N] [--svg FILE]\n\n"
    "  --engine SPEC  engine (default: inline)\n"
    "  --seconds N    time for measuring (default: 60)\n"
    "  --check N      number of other moves (default: 1000)\n"
    "  --seed N       seed of the random moves (default: the time)\n"
    "  --svg FILE     draw predicted against measured times\n";

struct arguments {
    struct calibration_rules rules;
    const char *svg;
};

static uint64_t number(const char *text, uint64_t most)
{
    char *end;
    const uint64_t value = strtoull(text, &end, 10);

    if (*end != '\0' || end == text || value == 0 || value > most) {
        fprintf(stderr, "%s given; a number from 1 to %" PRIu64 " is required\n", text, most);
        exit(2);
    }
    return value;
}

static void read_arguments(struct arguments *a, int argc, char **argv)
{
    static const struct option options[] = {
        {"engine", required_argument, NULL, 'e'},
        {"seconds", required_argument, NULL, 't'},
        {"check", required_argument, NULL, 'n'},
        {"seed", required_argument, NULL, 's'},
        {"svg", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int option;

    *a = (struct arguments){.rules = {.engine = "inline",
                                      .seed = (uint64_t)time(NULL),
                                      .time_ns = UINT64_C(60000000000),
                                      .check = 1000,
                                      .date = "today"}};
    while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
        if (option == 'e')
            a->rules.engine = optarg;
        else if (option == 't')
            a->rules.time_ns = number(optarg, 3600) * 1000000000;
        else if (option == 'n')
            a->rules.check = number(optarg, 1000000);
        else if (option == 's')
            a->rules.seed = number(optarg, UINT64_MAX);
        else if (option == 'o')
            a->svg = optarg;
        else {
            fputs(help, option == 'h' ? stdout : stderr);
            exit(option == 'h' ? 0 : 2);
        }
    }
}

static void print_summary(const char *name, const struct error_summary *errors)
{
    if (errors->moves > 0)
        printf("%-22s %6zu %8.1f %% %8.1f %%\n", name, errors->moves, errors->median * 100,
               errors->p95 * 100);
}

static void print_decades(const struct calibration *c)
{
    for (double from = 1e-9; from < 10; from *= 10) {
        const double clock = (double)c->profile.clock_hz;
        const struct error_filter filter = {-1, -1, from * clock, 10 * from * clock, false};
        const struct error_summary errors = calibration_errors(c, &filter);
        char name[64];

        snprintf(name, sizeof name, "%g to %g us", from * 1e6, from * 1e7);
        print_summary(name, &errors);
    }
}

static void print_result(const struct calibration *c)
{
    printf("%s: %zu moves measured in %.1f s; two measurements of a move differ by %.1f %%\n",
           c->engine, c->moves, c->seconds, c->repeat * 100);
    printf("left out %zu disturbed moves: no two measurements within 5 %%\n\n", c->left_out);
    printf("%-22s %6s %10s %10s\n", "errors of", "moves", "median", "p95");
    for (int i = 0; i < SWEEP_KIND_COUNT; i++)
        print_summary(sweep_kind_name((enum sweep_kind)i), &c->kind[i]);
    printf("\n");
    for (int i = 0; i < MOVE_CLASSES; i++)
        print_summary(move_class_keys[i], &c->class[i]);
    printf("\n");
    print_decades(c);
    printf("\n");
    if (c->processor)
        print_summary("formula without trees", &c->formula);
    print_summary("all", &c->all);
}

int main(int argc, char **argv)
{
    static struct calibration calibration;
    struct arguments arguments;
    struct fault fault;

    read_arguments(&arguments, argc, argv);
    printf("seed %" PRIu64 "\n", arguments.rules.seed);
    fflush(stdout);
    if (profile_load(&calibration.profile, "host", &fault) < 0 ||
        calibration_run(&calibration, &arguments.rules, &fault) < 0) {
        fprintf(stderr, "bench-calibrate: %s\n", fault.text);
        return 2;
    }
    print_result(&calibration);
    const bool reached = calibration.all.median <= GOAL_MEDIAN && calibration.all.p95 <= GOAL_P95;
    printf("\ngoal: median %.0f %%, p95 %.0f %%: %s\n", GOAL_MEDIAN * 100, GOAL_P95 * 100,
           reached ? "reached" : "missed");
    if (arguments.svg && plot_write(&calibration, arguments.svg) < 0)
        return 2;
    calibration_finish(&calibration);
    return reached ? 0 : 1;
}
