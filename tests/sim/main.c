/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mlid-sim: the service, simulated from a seed. The code of the service, of libuv, libmli and
 * libmli_client is the real one; the kernel, the DMA controller, the clients and the time are
 * simulated (kernel.h, device.h, actors.h), in one thread. The same seed gives the same events on
 * every machine.
 *
 * The path of one run: options -> scenario (what the seed decides) -> steps -> the clients end ->
 * the service is idle -> the service ends. tests/sim/README.md lists the invariants.
 */
#include <cJSON.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/sim/real.h"
#include "tests/sim/scenario.h"

enum { STEPS = 20000, TICK_S = 20 };

static const char usage[] =
    "usage: mlid-sim [--seed N] [--steps M] [--runs R] [--seconds T] [--verbose] [--no-shorten]\n"
    "\n"
    "Simulates the service and its clients from a seed, and checks invariants after each step.\n"
    "\n"
    "  --seed N      first seed (default 1)\n"
    "  --steps M     steps of one run, before the clients end (default 20000)\n"
    "  --runs R      runs, with the seeds N, N + 1, ... (default 1)\n"
    "  --seconds T   more runs until they have used T seconds of processor time\n"
    "  --verbose     a line for each run, with the checksum of its events\n"
    "  --log         print the log of the service\n"
    "  --no-shorten  after a failure, do not look for fewer clients that fail too\n"
    "\n"
    "Exit status: 0 all invariants held, 1 one was violated, 2 wrong arguments.\n";

struct options {
    uint64_t seed, steps, runs, seconds;
    bool verbose, shorten, log;
};

enum output { OUTPUT_NONE, OUTPUT_ERRORS, OUTPUT_LOG };

struct totals {
    uint64_t runs;
    struct scenario_result sum;
};

/* Memory that is shared with the child process that makes a run. */
static struct scenario_result *result;

static void add(struct scenario_result *sum, const struct scenario_result *one)
{
    sum->jobs_done += one->jobs_done;
    sum->jobs_failed += one->jobs_failed;
    sum->connections += one->connections;
    sum->kills += one->kills;
    sum->steps += one->steps;
    sum->client_ns += one->client_ns;
    sum->quiet_ns += one->quiet_ns;
    if (one->longest_turn > sum->longest_turn)
        sum->longest_turn = one->longest_turn;
    if (one->most_calls > sum->most_calls)
        sum->most_calls = one->most_calls;
}

/*
 * Ends the run if there was no step since the last tick, because a loop without system calls would
 * not end by itself.
 */
static void on_tick(int number)
{
    static const char text[] = "no step in 20 s of processor time: endless loop\n";
    static uint64_t last = UINT64_MAX;
    ssize_t written;

    (void)number;
    if (result->step == last) {
        written = __real_write(STDERR_FILENO, text, sizeof text - 1);
        _exit(written < 0 ? 2 : 1);
    }
    last = result->step;
}

static void watch(void)
{
    const struct timeval tick = {.tv_sec = TICK_S};

    sigaction(SIGPROF, &(struct sigaction){.sa_handler = on_tick, .sa_flags = SA_RESTART}, NULL);
    setitimer(ITIMER_PROF, &(struct itimerval){tick, tick}, NULL);
}

/* Makes one run in a child process. Returns true if all invariants held. */
static bool run(uint64_t seed, uint64_t steps, uint64_t without, enum output output)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    memset(result, 0, sizeof *result);
    child = fork();
    if (child == 0) {
        if (output == OUTPUT_NONE && !freopen("/dev/null", "w", stderr))
            _exit(2);
        watch();
        scenario_run(&(struct scenario_options){seed, steps, without, output == OUTPUT_LOG},
                     result);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        perror("mlid-sim");
        exit(2);
    }
    if (WIFSIGNALED(status) && output != OUTPUT_NONE)
        fprintf(stderr, "the simulation ended by signal %d at step %" PRIu64 "\n", WTERMSIG(status),
                result->step);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/*
 * Tries to leave out clients without which the run still fails. Returns the set of clients that can
 * be left out.
 */
static uint64_t shorten(uint64_t seed, uint64_t *steps)
{
    const uint32_t actors = result->actors;
    uint64_t without = 0;

    for (uint32_t i = 0; i < actors; i++) {
        if (!run(seed, *steps, without | UINT64_C(1) << i, OUTPUT_NONE)) {
            without |= UINT64_C(1) << i;
            if (result->step < *steps)
                *steps = result->step;
        }
    }
    return without;
}

static void report_failure(const struct options *options, uint64_t seed)
{
    uint64_t steps = result->step < options->steps ? result->step : options->steps, without = 0;

    printf("seed %" PRIu64 ": FAILED at step %" PRIu64 "\n", seed, result->step);
    if (options->shorten)
        without = shorten(seed, &steps);
    printf("repeat: mlid-sim --seed %" PRIu64 " --steps %" PRIu64, seed, steps);
    if (without)
        printf(" --without %#" PRIx64, without);
    printf("\n");
}

static uint64_t number(const char *text)
{
    char *end;
    uint64_t value;

    errno = 0;
    value = strtoull(text, &end, 0);
    if (errno || end == text || *end) {
        fprintf(stderr, "mlid-sim: not a number: %s\n", text);
        exit(2);
    }
    return value;
}

static double cpu_of_children(void)
{
    struct rusage used;

    getrusage(RUSAGE_CHILDREN, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void print_totals(const struct totals *totals, double cpu)
{
    const double hours = (double)totals->sum.client_ns / 3600e9;

    printf("%" PRIu64 " runs, %" PRIu64 " steps, %" PRIu64 " connections, %" PRIu64
           " kills, %" PRIu64 " jobs done, %" PRIu64 " failed or cancelled\n",
           totals->runs, totals->sum.steps, totals->sum.connections, totals->sum.kills,
           totals->sum.jobs_done, totals->sum.jobs_failed);
    printf("%.1f simulated client-hours, %.1f of them quiet, in %.1f s of processor time: %.0f per "
           "hour; longest turn of the loop %.0f us and %" PRIu64 " system calls\n",
           hours, (double)totals->sum.quiet_ns / 3600e9, cpu, hours * 3600 / cpu,
           (double)totals->sum.longest_turn / 1e3, totals->sum.most_calls);
}

static int run_all(const struct options *options, uint64_t without)
{
    const double begin = cpu_of_children();
    struct totals totals = {0};

    for (uint64_t seed = options->seed;; seed++) {
        const bool late = cpu_of_children() - begin >= (double)options->seconds;

        if (totals.runs >= options->runs && late)
            break;
        if (!run(seed, options->steps, without, options->log ? OUTPUT_LOG : OUTPUT_ERRORS)) {
            report_failure(options, seed);
            return 1;
        }
        totals.runs++;
        add(&totals.sum, result);
        if (options->verbose)
            printf("seed %" PRIu64 ": events %016" PRIx64 ", %s, %" PRIu64 " jobs done, %" PRIu64
                   " failed, longest turn %" PRIu64 " us\n",
                   seed, result->checksum, result->name, result->jobs_done, result->jobs_failed,
                   result->longest_turn / 1000);
    }
    print_totals(&totals, cpu_of_children());
    return 0;
}

int main(int argc, char **argv)
{
    static const struct option table[] = {
        {"seed", required_argument, NULL, 's'},    {"steps", required_argument, NULL, 'n'},
        {"runs", required_argument, NULL, 'r'},    {"seconds", required_argument, NULL, 't'},
        {"without", required_argument, NULL, 'w'}, {"verbose", no_argument, NULL, 'v'},
        {"no-shorten", no_argument, NULL, 'k'},    {"log", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    struct options options = {.seed = 1, .steps = STEPS, .runs = 1, .shorten = true};
    struct rlimit files; /* each simulated file needs a real descriptor */
    /* The allocation functions of the simulation program, not of its simulated processes. */
    cJSON_Hooks hooks = {.malloc_fn = malloc, .free_fn = free};
    uint64_t without = 0;
    int option;

    cJSON_InitHooks(&hooks);
    while ((option = getopt_long(argc, argv, "", table, NULL)) >= 0) {
        switch (option) {
        case 's':
            options.seed = number(optarg);
            break;
        case 'n':
            options.steps = number(optarg);
            break;
        case 'r':
            options.runs = number(optarg);
            break;
        case 't':
            options.seconds = number(optarg);
            break;
        case 'w':
            without = number(optarg);
            break;
        case 'v':
            options.verbose = true;
            break;
        case 'l':
            options.log = true;
            break;
        case 'k':
            options.shorten = false;
            break;
        case 'h':
            fputs(usage, stdout);
            return 0;
        default:
            fputs(usage, stderr);
            return 2;
        }
    }
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    result =
        real_mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (result == MAP_FAILED)
        return 2;
    return run_all(&options, without);
}
