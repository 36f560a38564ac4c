/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench-service: measures what the daemon adds to a move. Compares requests per second and latency
 * with a bare libuv loop that answers the same bytes, and large moves with the library; watches the
 * idle daemon.
 */
#include <err.h>
#include <getopt.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/moves/bench_clock.h"
#include "bench/service/direct.h"
#include "bench/service/growth.h"
#include "bench/service/idle.h"
#include "bench/service/service_cases.h"
#include "bench/service/service_process.h"

enum { ROUNDS = 9, MANY = 50, WARM_UP = 2000 };

static unsigned long scale = 100; /* number of requests, in percent of the default */

static void verdict(const char *goal, double value, const char *relation, double wanted,
                    const char *unit)
{
    const bool met = relation[0] == '<' ? value <= wanted : value >= wanted;

    printf("  %-4s %-52s %10.4g %s, goal %s %g\n", met ? "ok" : "MISS", goal, value, unit, relation,
           wanted);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static uint64_t scaled(uint64_t count)
{
    return count * scale / 100 + 1;
}

/* The nanoseconds per request at one depth, of the daemon and of the echo. */
struct pace {
    double daemon, echo;
};

static struct pace race(struct flow *flow, struct flow *bare, uint64_t count)
{
    double daemon[ROUNDS], echo[ROUNDS];

    flow_run(flow, scaled(WARM_UP));
    flow_run(bare, scaled(WARM_UP));
    for (int i = 0; i < ROUNDS; i++) {
        daemon[i] = flow_run(flow, count) / (double)count;
        echo[i] = flow_run(bare, count) / (double)count;
    }
    qsort(daemon, ROUNDS, sizeof *daemon, compare);
    qsort(echo, ROUNDS, sizeof *echo, compare);
    return (struct pace){daemon[ROUNDS / 2], echo[ROUNDS / 2]};
}

static struct pace run_case(const struct server *server, const struct bench_case *what,
                            unsigned depth)
{
    struct flow flow, bare;
    struct server echo;
    struct pace pace;
    const int socket = server_connect(server);
    size_t reply;

    what->begin(&flow, socket);
    reply = strlen(flow_call(socket, flow.line, flow.fds, flow.fd_count));
    flow_init(&flow, socket, depth);
    bare = flow;
    server_start_echo(&echo, flow.length, reply);
    bare.fd_count = 0;
    flow_init(&bare, server_connect(&echo), depth);
    pace = race(&flow, &bare, scaled(depth == 1 ? 4000 : 30000));
    printf("%-26s %5u %9zu %6zu %12.0f %12.0f %9.2f %12.0f\n", what->title, depth, flow.length,
           reply, pace.daemon, pace.echo, pace.daemon / pace.echo, 1e9 / pace.daemon);
    close(bare.socket);
    close(socket);
    for (size_t i = 0; i < flow.fd_count; i++)
        close(flow.fds[i]);
    server_stop(&echo);
    return pace;
}

/* Measures many connections of small depth together. */
static void run_many(const struct server *server)
{
    static struct flow flows[MANY];
    struct pollfd polled[MANY];
    const uint64_t count = scaled(200000);
    uint64_t answered = 0;
    double begin;

    for (int i = 0; i < MANY; i++) {
        const int socket = server_connect(server);

        case_start.begin(&flows[i], socket);
        flow_init(&flows[i], socket, 4);
        polled[i] = (struct pollfd){.fd = socket, .events = POLLIN};
        flow_fill(&flows[i]);
    }
    begin = clock_ns();
    while (answered < count) {
        poll(polled, MANY, -1);
        for (int i = 0; i < MANY; i++) {
            const uint64_t before = flows[i].answered;

            if (!polled[i].revents)
                continue;
            flow_receive(&flows[i]);
            answered += flows[i].answered - before;
            flow_fill(&flows[i]);
        }
    }
    printf("%-26s %5s %55.0f\n", "job.start, 50 connections", "4",
           (double)answered / (clock_ns() - begin) * 1e9);
    for (int i = 0; i < MANY; i++)
        close(flows[i].socket);
}

static void run_flat(const struct server *server, uint64_t jobs)
{
    struct flow flow;
    const int socket = server_connect(server);
    unsigned long before, after;
    double ns;

    case_start.begin(&flow, socket);
    flow_init(&flow, socket, 64);
    flow_run(&flow, 200000);
    before = resident_kib(server->pid);
    ns = flow_run(&flow, jobs);
    after = resident_kib(server->pid);
    printf("\n%llu jobs in %.1f s: %lu KiB resident before, %lu after\n", (unsigned long long)jobs,
           ns / 1e9, before, after);
    verdict("memory over these jobs: growth", (double)after - (double)before, "<=", 256, "KiB");
    close(socket);
}

static void run_all(uint64_t jobs)
{
    struct server server;
    struct pace start1, start64, submit64;
    struct large large;
    struct idle idle;
    int socket;

    /* One user may have only three quarters of the connections. */
    server_start_mlid(&server, "{\"clients\":128}");
    close(server_connect(&server));
    usleep(200 * 1000); /* gives the daemon time to notice the end of the connections */
    idle = idle_watch(server.pid, 2000);
    printf("%-26s %5s %9s %6s %12s %12s %9s %12s\n", "", "depth", "request B", "reply",
           "ns, daemon", "ns, echo", "ratio", "a second");
    run_case(&server, &case_ping, 1);
    run_case(&server, &case_ping, 64);
    run_case(&server, &case_submit, 1);
    submit64 = run_case(&server, &case_submit, 64);
    run_case(&server, &case_submit_buffers, 1);
    run_case(&server, &case_submit_buffers, 64);
    start1 = run_case(&server, &case_start, 1);
    start64 = run_case(&server, &case_start, 64);
    run_many(&server);
    socket = server_connect(&server);
    large = large_run(socket, (unsigned)scaled(20));
    close(socket);
    printf("\n64 MiB transposed: %.2f ms through the daemon, %.2f ms by the library\n",
           large.daemon_ns / 1e6, large.library_ns / 1e6);
    printf("idle for 2 s: %lu KiB resident, %lu wake-ups, %.2f ms of processor\n\n",
           idle.resident_kib, idle.wakeups, idle.cpu_ms);
    verdict("job.start, depth 64", 1e9 / start64.daemon, ">=", 300000, "/s");
    verdict("job.start, depth 1, beside the echo", start1.daemon / start1.echo, "<=", 1.5, "x");
    verdict("job.submit with descriptors, depth 64", 1e9 / submit64.daemon, ">=", 60000, "/s");
    verdict("64 MiB beside the library", large.daemon_ns / large.library_ns, "<=", 1.03, "x");
    verdict("idle: resident", (double)idle.resident_kib, "<=", 10 * 1024, "KiB");
    verdict("idle: wake-ups in 2 s", (double)idle.wakeups, "<=", 0, "");
    if (jobs > 0)
        run_flat(&server, jobs);
    server_stop(&server);
}

static const char help[] = "usage: bench-service [--quick] [--jobs N | --growth]\n"
                           "  --quick   a tenth of the requests\n"
                           "  --jobs N  then N more prepared starts, and what they left in memory\n"
                           "  --growth  only measure what more records of ended jobs cost\n"
                           "Exit status: 0, even if a goal is missed; 1: something did not work.\n";

int main(int argc, char **argv)
{
    static const struct option table[] = {{"quick", no_argument, NULL, 'q'},
                                          {"jobs", required_argument, NULL, 'j'},
                                          {"growth", no_argument, NULL, 'g'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    uint64_t jobs = 0;
    bool growth = false;

    for (int letter; (letter = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        if (letter == 'q') {
            scale = 10;
        } else if (letter == 'g') {
            growth = true;
        } else if (letter == 'j') {
            jobs = strtoull(optarg, NULL, 10);
        } else {
            fputs(help, letter == 'h' ? stdout : stderr);
            return letter == 'h' ? 0 : 2;
        }
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    server_pin(CLIENT_CPU);
    if (growth)
        growth_run();
    else
        run_all(jobs);
    return 0;
}
