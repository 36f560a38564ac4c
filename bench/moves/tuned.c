/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/tuned.h"

#include <inttypes.h>
#include <stdio.h>

/* Factors by which the calibrated library may be slower than the defaults, and than the best peer.
 */
#define TOLERANCE 1.03

#ifdef BENCH_TUNING

#include "target/tuning/tuning_file.h"

int tuned_load(struct tuned *tuned, const char *path)
{
    struct tuning_file file;
    struct machine machine;
    struct fault fault;

    if (tuning_file_load(&file, path, &fault) < 0) {
        fprintf(stderr, "bench-moves: --tuning: %s\n", fault.text);
        return -1;
    }
    machine_read(&machine, "");
    if (!machine_is(&file.machine, &machine))
        printf("the tuning was measured on another machine: %s\n", file.machine.cpu);
    tuned->defaults.size = sizeof tuned->defaults;
    (void)mli_tuning_default(&tuned->defaults, &machine.caches);
    tuned->values = file.tuning;
    return 0;
}

#else

int tuned_load(struct tuned *tuned, const char *path)
{
    (void)tuned;
    fprintf(stderr,
            "bench-moves: --tuning %s: a build with the service (-Dservice=true) is "
            "required to read the file\n",
            path);
    return -1;
}

#endif

void tuned_print(const struct tuned *tuned)
{
    printf("calibrated:");
#define PRINT(name, least, most, multiple)                                                         \
    if (tuned->values.name != tuned->defaults.name)                                                \
        printf(" %s %" PRIu64 " -> %" PRIu64, #name, tuned->defaults.name, tuned->values.name);
    MLI_TUNING_TABLE(PRINT)
#undef PRINT
    printf("\n");
}

static void compare_defaults(const struct result_list *list)
{
    const struct result *worst = NULL;
    struct mean mean = {0};
    int faster = 0, slower = 0, again = 0;
    char name[RESULT_NAME];

    for (int i = 0; i < list->count; i++) {
        const struct result *r = &list->at[i];

        if (r->tuned_ratio <= 0)
            continue;
        mean_add(&mean, r->tuned_ratio);
        worst = !worst || r->tuned_ratio > worst->tuned_ratio ? r : worst;
        faster += r->tuned_ratio < 1 / TOLERANCE;
        slower += r->tuned_ratio > TOLERANCE;
        again += r->tuned_again;
    }
    if (!worst)
        return;
    printf("  (h) %s  calibrated takes at most %.2f times the default: worst %.3f, %s\n",
           slower == 0 ? "holds " : "missed", TOLERANCE, worst->tuned_ratio,
           result_name(worst, name));
    printf("        mean %.3f of %d cells, %d more than 3 %% faster, %d more than 3 %% slower; %d "
           "were measured again\n",
           mean_value(&mean), mean.count, faster, slower, again);
    for (int i = 0; i < list->count; i++) {
        const struct result *r = &list->at[i];

        if (r->tuned_ratio > TOLERANCE || (r->tuned_ratio > 0 && r->tuned_ratio < 1 / TOLERANCE))
            printf("        %s  %6.2f -> %5.2f, x %.2f\n", result_name(r, name), r->ours.median,
                   r->tuned.median, r->tuned_ratio);
    }
}

/* Returns the best peer of a calibrated cell if ours is slower than this peer, or -1. */
static int faster_peer(const struct result_list *list, const struct result *r)
{
    const int best = result_best(list, r);

    return best >= 0 && r->tuned.median > TOLERANCE * r->peer[best].median ? best : -1;
}

static void compare_peers(const struct result_list *list, bool goal, const char *sizes)
{
    int behind = 0, count = 0;
    char name[RESULT_NAME];

    for (int i = 0; i < list->count; i++) {
        const struct result *r = &list->at[i];

        if (r->tuned_ratio <= 0 || result_has_goal(r) != goal || result_best(list, r) < 0)
            continue;
        count++;
        behind += faster_peer(list, r) >= 0;
    }
    if (count == 0)
        return;
    printf(
        "  (i) %s  no calibrated cell slower than its best peer%s, 3 %% tolerated: %d of %d cells "
        "are\n",
        behind == 0 ? "holds " : "missed", sizes, behind, count);
    for (int i = 0; i < list->count; i++) {
        const struct result *r = &list->at[i];
        const int peer = faster_peer(list, r);

        if (r->tuned_ratio > 0 && result_has_goal(r) == goal && peer >= 0)
            printf("        %s  %6.2f against %5.2f, x %.2f  %s\n", result_name(r, name),
                   r->tuned.median, r->peer[peer].median, r->tuned.median / r->peer[peer].median,
                   list->peers.at[peer]->name);
    }
}

void tuned_verdict(const struct result_list *list)
{
    compare_defaults(list);
    compare_peers(list, true, "");
    compare_peers(list, false, " at other sizes");
}
