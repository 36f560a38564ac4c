/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/verdict.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/moves/bench_cases.h"

/* The tolerance of comparisons: two runs of the same program may differ by up to this factor. */
#define TOLERANCE 1.03

/* Bounds of the time of two steps: at best they overlap, at worst they run in sequence. */
#define SUM_TOLERANCE 1.1

/* A cell and its reference time. */
struct pair {
    const struct result *r;
    double other;
    const char *who;
};

static int by_excess(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    const double p = x->r->ours.median / x->other, q = y->r->ours.median / y->other;

    return (p < q) - (p > q);
}

static const char *word(bool holds)
{
    return holds ? "holds " : "missed";
}

/* Prints the pairs in which ours exceeds `limit` times the reference. */
static void judge(char letter, const char *goal, struct pair *pairs, int count, double limit)
{
    char name[RESULT_NAME];
    int over = 0;

    if (count == 0) {
        printf("  (%c) -       %s: not measured\n", letter, goal);
        return;
    }
    qsort(pairs, (size_t)count, sizeof(*pairs), by_excess);
    while (over < count && pairs[over].r->ours.median > limit * pairs[over].other)
        over++;
    printf("  (%c) %s  %s: %d of %d cells are over it\n", letter, word(over == 0), goal, over,
           count);
    for (int i = 0; i < over; i++) {
        const struct pair *p = &pairs[i];

        printf("        %s  %6.2f against %5.2f, x %.2f  %s\n", result_name(p->r, name),
               p->r->ours.median, p->other, p->r->ours.median / p->other, p->who);
    }
}

static void judge_peers(const struct result_list *list, struct pair *pairs)
{
    static const struct {
        bool listed, goal_size;
        const char *goal;
    } groups[] = {
        {true, true, "no cell slower than its best peer here, 3 % tolerated"},
        {true, false, "the same at other sizes"},
        {false, true, "the same of the neighbours"},
        {false, false, "the same of the neighbours at other sizes"},
    };

    for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
        int count = 0;

        for (int i = 0; i < list->count; i++) {
            const struct result *r = &list->at[i];
            const int best = result_best(list, r);

            if (best >= 0 && r->ours.count > 0 && result_listed(r) == groups[g].listed &&
                result_has_goal(r) == groups[g].goal_size)
                pairs[count++] = (struct pair){r, r->peer[best].median, list->peers.at[best]->name};
        }
        if (count > 0 || g == 0)
            judge('a', groups[g].goal, pairs, count, TOLERANCE);
    }
}

static void judge_known(const struct result_list *list, struct pair *pairs)
{
    int count = 0;

    for (int i = 0; i < list->count; i++) {
        const struct result *r = &list->at[i];
        const double known = known_best(r->number, r->elem, r->kib);

        if (known > 0 && r->ours.count > 0)
            pairs[count++] = (struct pair){r, known, "known elsewhere"};
    }
    judge('b', "no cell slower than the best known elsewhere, 3 % tolerated", pairs, count,
          TOLERANCE);
}

static void judge_means(const struct result_list *list)
{
    static const struct {
        uint32_t kib;
        double goal;
        const char *where;
    } goals[] = {{384, 1.35, "L2"}, {8192, 1.1, "L3"}, {131072, 1.3, "DRAM"}};

    for (size_t g = 0; g < sizeof(goals) / sizeof(goals[0]); g++) {
        struct mean mean = {0}, peers = {0}, bounds = {0}, lines = {0};

        for (int i = 0; i < list->count; i++) {
            const struct result *r = &list->at[i];
            const int best = result_best(list, r);

            if (r->kib != goals[g].kib || !result_listed(r) || r->ours.count == 0)
                continue;
            mean_add(&mean, r->ours.median);
            if (r->bound > 0)
                mean_add(&bounds, r->bound);
            if (best >= 0)
                mean_add(&peers, r->peer[best].median);
            if (r->lines.count > 0)
                mean_add(&lines, r->lines.median);
        }
        if (mean.count == 0) {
            printf("  (c) -       geometric mean, %s: not measured\n", goals[g].where);
            continue;
        }
        printf(
            "  (c) %s  geometric mean, %s: %.3f of %d cells, goal %.2f (best peers: %.2f; by the "
            "number of lines alone: %.2f",
            word(mean_value(&mean) <= goals[g].goal), goals[g].where, mean_value(&mean), mean.count,
            goals[g].goal, mean_value(&peers), mean_value(&bounds));
        if (lines.count > 0)
            printf(", as measured: %.2f", mean_value(&lines));
        printf(")\n");
    }
}

static void judge_calls(const struct calls *c)
{
    if (!c) {
        printf("  (d) -       small calls: not measured\n");
        return;
    }
    for (int i = 0; i < c->count; i++) {
        if (c->at[i].goal > 0)
            printf("  (d) %s  small call, %s: %.1f ns, goal %.0f\n",
                   word(c->at[i].ns <= c->at[i].goal), c->at[i].name, c->at[i].ns, c->at[i].goal);
    }
}

static void judge_levels(const struct levels *l)
{
    char size[RESULT_NAME];

    if (!l) {
        printf("  (e) -       levels of kernels: not measured, see --levels\n");
        return;
    }
    for (int s = 0; s < l->count; s++) {
        const double *m = l->mean[s], avx2 = m[1] / m[0], c = m[LEVELS_LOOP] / m[2];

        result_size(l->kib[s], size);
        printf("  (e) %s  %s: %s takes %.2f times as long as %s, goal 1.50\n", word(avx2 <= 1.5),
               size, l->name[1], avx2, l->name[0]);
        printf("  (e) %s  %s: %s is %.2f times as fast as the element loop, goal 3.00\n",
               word(c >= 3), size, l->name[2], c);
    }
}

static void judge_neighbours(const struct result_list *list, struct pair *pairs)
{
    int count = 0;

    for (int i = 0; i < list->count; i++) {
        const struct result *r = &list->at[i],
                            *like = result_find(list, r->kind->like, r->elem, r->kib);

        if (!result_listed(r) && r->ours.count > 0 && like)
            pairs[count++] = (struct pair){r, like->ours.median, like->kind->name};
    }
    judge('f', "no neighbour takes over twice as long per byte as its case", pairs, count, 2);
}

/* Estimates the time of the instructions of a move, in multiples of memcpy of *r: from the time
 * per byte of the same move of 16 KiB, in the first-level cache. Returns 0 if this was not
 * measured. */
static double instructions(const struct result_list *list, const struct result *r)
{
    const struct result *small = result_find(list, r->number, r->elem, 16);

    if (!small || small == r)
        return 0;
    return small->ours_ns / (double)small->moved_bytes * (double)r->moved_bytes / r->memcpy_ns;
}

static void judge_limits(const struct result_list *list, struct pair *pairs)
{
    int count = 0;

    for (int i = 0; i < list->count; i++) {
        const struct result *r = &list->at[i];
        const double other = instructions(list, r);

        if (result_listed(r) && r->ours.count > 0 && r->lines.count > 0 && other > 0)
            pairs[count++] = (struct pair){r, r->lines.median + other, "both"};
    }
    judge('g', "no cell over its lines alone and its instructions alone, both, by more than 10 %",
          pairs, count, SUM_TOLERANCE);
}

void verdict_print(const struct result_list *list, const struct calls *calls,
                   const struct levels *levels)
{
    struct pair *pairs = malloc(((size_t)list->count + 1) * sizeof(*pairs));

    if (!pairs)
        return;
    printf("\nthe verdict\n");
    judge_peers(list, pairs);
    judge_known(list, pairs);
    judge_means(list);
    judge_calls(calls);
    judge_levels(levels);
    judge_neighbours(list, pairs);
    judge_limits(list, pairs);
    free(pairs);
}
