/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench-moves: times moves against memcpy and against other libraries.
 *
 *   cases, neighbours    measured moves               peer, peers, peer_*   other libraries
 *   job                  a case in numbers            ours                  the library
 *   memory, oracle       regions, expected bytes      race                  contenders at one job
 *   plan, run, levels    choice and order of cells    table, export, svg, verdict   reports
 *   calls                single small calls           known                 figures from elsewhere
 *   lines, lines_tiles   cache lines of a move alone  tuned                 the library as
 * calibrated
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/moves/bench_plan.h"
#include "bench/moves/bench_run.h"
#include "bench/moves/bench_table.h"
#include "bench/moves/evict.h"
#include "bench/moves/export.h"
#include "bench/moves/levels.h"
#include "bench/moves/small_call.h"
#include "bench/moves/svg.h"
#include "bench/moves/verdict.h"

static struct case_list cases;
static struct levels levels;
static struct calls calls;
static struct tuned tuned;

static int wanted_cases(const struct options *o)
{
    int count = 0;

    for (int i = 0; i < cases.count; i++)
        count += plan_wants(o, &cases.at[i]);
    return count;
}

static int write_files(const struct options *o, const struct result_list *list)
{
    int result = 0;

    if (o->csv)
        result |= export_csv(list, o->csv);
    if (o->json)
        result |= export_json(list, o->json);
    if (o->svg)
        result |= svg_write(list, o, o->svg);
    return result;
}

/* Runs the benchmark. Returns the exit status. */
static int measure(const struct options *o, struct memory *memory, struct result_list *list)
{
    int wrong = 0;
    bool failed = false;

    if (o->calls) {
        failed = calls_measure(&calls, o->quick) != 0;
        calls_print(&calls);
    }
    for (int s = 0; s < o->kib_count; s++) {
        wrong += run_size(o, o->tuning ? &tuned : NULL, &cases, memory, o->kib[s], list);
        table_size(list, o, o->kib[s]);
    }
    if (o->levels) {
        levels_measure(&levels, o, &cases, memory);
        levels_print(&levels);
        wrong += levels.wrong;
    }
    table_noise(list);
    verdict_print(list, o->calls ? &calls : NULL, o->levels ? &levels : NULL);
    tuned_verdict(list);
    failed |= write_files(o, list) != 0;
    if (wrong)
        printf("\n%d cells with WRONG bytes or refused: see stderr\n", wrong);
    return wrong || failed;
}

int main(int argc, char **argv)
{
    struct result_list list = {0};
    struct memory memory;
    struct options o;
    size_t src, dst;
    int status = options_parse(&o, argc, argv);

    if (status)
        return status == 1 ? 0 : status;
    cases_list(&cases);
    if (o.neighbours)
        cases_add_neighbours(&cases);
    if (o.lines && !lines_peer.open()) {
        fprintf(stderr, "bench-moves: --lines: only written for AVX-512, which is not here\n");
        return 2;
    }
    if (wanted_cases(&o) == 0) {
        fprintf(stderr, "bench-moves: no case has such a name\n");
        return 2;
    }
    if (o.tuning && tuned_load(&tuned, o.tuning))
        return 2;
    const char *eviction = evict_init();

    plan_room(&o, &cases, &src, &dst);
    list.kinds = cases.at;
    list.at = calloc((size_t)(wanted_cases(&o) * o.kib_count * o.elem_count), sizeof(*list.at));
    if (!list.at || memory_init(&memory, src, dst, o.seed)) {
        free(list.at);
        return 1;
    }
    if (o.peers)
        peers_open(&list.peers);
    table_header(&o, &list.peers, eviction);
    if (o.tuning)
        tuned_print(&tuned);
    status = measure(&o, &memory, &list);
    memory_finish(&memory);
    free(list.at);
    return status;
}
