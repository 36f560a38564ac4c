/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/bench_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mli_api.h"

static void first_line(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "r");

    text[0] = '\0';
    if (!file)
        return;
    if (!fgets(text, (int)room, file))
        text[0] = '\0';
    fclose(file);
    text[strcspn(text, "\n")] = '\0';
}

void table_header(const struct options *o, const struct peer_list *peers, const char *eviction)
{
    char pages[96];

    first_line("/sys/kernel/mm/transparent_hugepage/enabled", pages, sizeof(pages));
    printf("libmli %s, kernels: %s, compiler: %s\n", mli_version(), mli_cpu_level(), __VERSION__);
    printf("peers:");
    for (int i = 0; i < peers->count; i++)
        printf("%s %s %s", i ? "," : "", peers->at[i]->name, peers->version[i]);
    printf("%s%s%s\n", peers->count ? "" : " none", peers->missing[0] ? "; without: " : "",
           peers->missing);
    printf("one thread; memory: mmap, populated, transparent huge pages: %s\n",
           pages[0] ? pages : "unknown");
    printf("from 64 MiB on caches evicted before every sample by %s\n", eviction);
    printf("seed %llu\n", (unsigned long long)o->seed);
}

static const char *mark(const struct result *r, double best)
{
    return best > 0 && r->ours.median > best * 1.03 ? "!" : " ";
}

/* Returns the ratio of the cache lines alone, or 0 if it was not measured. */
static void print_lines(const struct options *o, double lines)
{
    if (o->lines && lines > 0)
        printf("/ %5.2f", lines);
    else if (o->lines)
        printf("/ %5s", "-");
}

/* Prints the time with the tuning of a file. */
static void print_tuned(const struct options *o, const struct result *r)
{
    if (o->tuning && r && r->tuned.count > 0)
        printf("> %5.2f", r->tuned.median);
    else if (o->tuning)
        printf("> %5s", "-");
}

static void print_cell(const struct result_list *list, const struct options *o,
                       const struct result *r)
{
    const int best = r ? result_best(list, r) : -1;
    const double fastest = best < 0 ? 0 : r->peer[best].median;

    if (!r)
        printf("  %22s", "-");
    else if (best < 0)
        printf("  %6.2f  / %5s %-7s", r->ours.median, "-", "");
    else
        printf("  %6.2f%s / %5.2f %-7s", r->ours.median, mark(r, fastest), fastest,
               list->peers.at[best]->name);
    print_lines(o, r ? r->lines.median : 0);
    print_tuned(o, r);
}

static void print_means(const struct result_list *list, const struct options *o, uint32_t kib)
{
    printf("%-33s", "geometric mean, listed cases");
    for (int e = 0; e < o->elem_count; e++) {
        struct mean ours = {0}, peers = {0}, lines = {0}, calibrated = {0};

        for (int i = 0; i < CASE_LISTED; i++) {
            const struct result *r = result_find(list, i, o->elem[e], kib);
            const int best = r ? result_best(list, r) : -1;

            if (r)
                mean_add(&ours, r->ours.median);
            if (best >= 0)
                mean_add(&peers, r->peer[best].median);
            if (r && r->tuned.count)
                mean_add(&calibrated, r->tuned.median);
            if (r && r->lines.count)
                mean_add(&lines, r->lines.median);
        }
        if (peers.count)
            printf("  %6.2f  / %5.2f %-7s", mean_value(&ours), mean_value(&peers), "");
        else
            printf("  %6.2f  / %5s %-7s", mean_value(&ours), "-", "");
        print_lines(o, mean_value(&lines));
        if (calibrated.count)
            printf("> %5.2f", mean_value(&calibrated));
    }
    printf("\n");
}

static void print_differing(const struct result_list *list, uint32_t kib)
{
    for (int p = 0; p < list->peers.count; p++) {
        const struct result *first = NULL;
        char name[RESULT_NAME];
        int count = 0;

        for (int i = 0; i < list->count; i++) {
            const struct result *r = &list->at[i];

            if (r->kib != kib ||
                (r->peer_outcome[p] != RACE_DIFFERS && r->peer_outcome[p] != RACE_FAILED))
                continue;
            first = first ? first : r;
            count++;
        }
        if (count > 0)
            printf("not counted: %s %s in %d cells, first: %s\n", list->peers.at[p]->name,
                   first->peer_outcome[p] == RACE_DIFFERS ? "differs" : "fails", count,
                   result_name(first, name));
    }
}

void table_size(const struct result_list *list, const struct options *o, uint32_t kib)
{
    char name[RESULT_NAME];
    int last = -1;

    printf("\ntime / memcpy of the same bytes, destination %s: ours / best peer (!: it is "
           "faster)%s%s\n",
           result_size(kib, name), o->lines ? " / its cache lines alone" : "",
           o->tuning ? " > ours, calibrated" : "");
    printf("%-33s", "");
    for (int e = 0; e < o->elem_count; e++)
        printf("  %u-byte elements%*s", o->elem[e], (o->lines ? 14 : 7) + (o->tuning ? 7 : 0), "");
    printf("\n");
    for (int i = 0; i < list->count; i++) {
        const struct result *r = &list->at[i];

        if (r->kib != kib || r->number == last)
            continue;
        if (last < CASE_LISTED && r->number >= CASE_LISTED) {
            if (last >= 0)
                print_means(list, o, kib);
            printf("neighbours\n");
        }
        last = r->number;
        printf("%-33s", r->kind->name);
        for (int e = 0; e < o->elem_count; e++)
            print_cell(list, o, result_find(list, r->number, o->elem[e], kib));
        printf("\n");
    }
    if (last >= 0 && last < CASE_LISTED)
        print_means(list, o, kib);
    print_differing(list, kib);
    fflush(stdout);
}

void table_noise(const struct result_list *list)
{
    double load[3] = {0};
    int samples = 0, cells = 0;

    for (int i = 0; i < list->count; i++) {
        samples += list->at[i].interrupted;
        cells += list->at[i].interrupted > 0;
    }
    if (samples > 0)
        printf("\n%d samples of %d cells were interrupted by other processes each time they were "
               "tried\n",
               samples, cells);
    if (getloadavg(load, 3) == 3 && load[0] > 1.5)
        printf("\nload average %.1f: not alone on this machine, ratios are noisy\n", load[0]);
}
