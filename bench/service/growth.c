/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/service/growth.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/service/service_cases.h"
#include "bench/service/service_process.h"

enum { SIZES = 3, ROUNDS = 9, DEPTH = 64, CALLS = 4000, SLOW_CALLS = 50 };

static const unsigned sizes[SIZES] = {64, 1024, 65536}; /* values of limits.history */

/* The requests that are measured. */
static const struct row {
    const struct bench_case *what;
    unsigned depth, calls;
} rows[] = {
    {&case_start, DEPTH, CALLS},
    {&case_named_start, DEPTH, CALLS},
    {&case_stats, 1, SLOW_CALLS},
    {&case_list, 1, SLOW_CALLS},
};

enum { ROWS = sizeof rows / sizeof *rows };

/* Returns the nanoseconds of a call in the fastest round. */
static double measure(const struct server *server, const struct row *row)
{
    const int socket = server_connect(server);
    struct flow flow;
    double best = 0;

    row->what->begin(&flow, socket);
    flow_call(socket, flow.line, NULL, 0); /* reads the greeting */
    flow_init(&flow, socket, row->depth);
    for (int i = 0; i < ROUNDS; i++) {
        const double ns = flow_run(&flow, row->calls) / row->calls;

        if (i == 0 || ns < best)
            best = ns;
    }
    close(socket);
    return best;
}

/* Fills the history with ended jobs of one name. */
static void fill(const struct server *server, unsigned history)
{
    const int socket = server_connect(server);
    struct flow flow;

    case_named_start.begin(&flow, socket);
    flow_init(&flow, socket, DEPTH);
    flow_run(&flow, history + 1000);
    close(socket);
}

static void measure_size(unsigned history, double *ns)
{
    char limits[32];
    struct server server;

    snprintf(limits, sizeof limits, "{\"history\":%u}", history);
    server_start_mlid(&server, limits);
    fill(&server, history);
    for (int i = 0; i < ROWS; i++)
        ns[i] = measure(&server, &rows[i]);
    server_stop(&server);
}

void growth_run(void)
{
    double ns[SIZES][ROWS];

    for (int i = 0; i < SIZES; i++)
        measure_size(sizes[i], ns[i]);
    printf("%-26s", "ns, limits.history");
    for (int i = 0; i < SIZES; i++)
        printf(" %9u", sizes[i]);
    printf(" %9s %9s\n", "ratio", "ratio");
    for (int row = 0; row < ROWS; row++) {
        printf("%-26s", rows[row].what->title);
        for (int i = 0; i < SIZES; i++)
            printf(" %9.0f", ns[i][row]);
        for (int i = 1; i < SIZES; i++)
            printf(" %9.2f", ns[i][row] / ns[0][row]);
        printf("\n");
    }
}
