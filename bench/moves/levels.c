/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/levels.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/moves/bench_oracle.h"
#include "bench/moves/bench_plan.h"
#include "bench/moves/bench_result.h"
#include "bench/moves/ours.h"
#include "mli_api.h"

static const char *loop_open(void)
{
    return "";
}

static void *loop_prepare(const struct job *job)
{
    struct job *copy = malloc(sizeof(*copy));

    if (copy)
        *copy = *job;
    return copy;
}

static int loop_run(void *state)
{
    const struct job *j = state;

    oracle_write(j, j->dst);
    return 0;
}

static const struct peer loop_peer = {"loop", loop_open, loop_prepare, loop_run, free};

static const uint32_t masks[LEVELS_LOOP] = {UINT32_MAX, MLI_CPU_AVX2, 0};

static void one(struct levels *l, const struct options *o, struct memory *memory, struct job *job,
                struct mean *means)
{
    struct race r = {.memory = memory, .job = job, .count = LEVELS_KINDS, .spoil = o->spoil};

    plan_rounds(o, &r, job->moved_bytes, PLAN_LEVELS);
    for (int k = 0; k < LEVELS_KINDS; k++) {
        r.at[k].peer = k == LEVELS_LOOP ? &loop_peer : &ours_peer;
        r.at[k].masked = k != LEVELS_LOOP;
        r.at[k].mask = k != LEVELS_LOOP ? masks[k] : 0;
    }
    race_run(&r);
    for (int k = 0; k < LEVELS_KINDS; k++) {
        if (r.at[k].outcome == RACE_TIMED) {
            mean_add(&means[k], r.at[k].ratio.median);
            continue;
        }
        fprintf(stderr, "bench-moves: WRONG at level %s: %s, %u-byte elements\n", l->name[k],
                job->kind->name, job->elem);
        l->wrong++;
    }
}

void levels_measure(struct levels *l, const struct options *o, const struct case_list *cases,
                    struct memory *memory)
{
    for (int k = 0; k < LEVELS_LOOP; k++) {
        mli_cpu_set_mask(masks[k]);
        l->name[k] = mli_cpu_level();
    }
    l->name[LEVELS_LOOP] = "element loop";
    l->count = o->kib_count;
    l->wrong = 0;
    for (int s = 0; s < o->kib_count; s++) {
        struct mean means[LEVELS_KINDS] = {{0}};

        l->kib[s] = o->kib[s];
        for (int i = 0; i < CASE_LISTED; i++) {
            for (int e = 0; plan_wants(o, &cases->at[i]) && e < o->elem_count; e++) {
                struct job job;

                job_init(&job, &cases->at[i], o->elem[e], (size_t)o->kib[s] * 1024);
                plan_progress("levels", cases->at[i].name, o->elem[e], o->kib[s]);
                one(l, o, memory, &job, means);
            }
        }
        for (int k = 0; k < LEVELS_KINDS; k++)
            l->mean[s][k] = mean_value(&means[k]);
    }
    plan_progress_end();
    mli_cpu_set_mask(UINT32_MAX);
}

void levels_print(const struct levels *l)
{
    char size[RESULT_NAME];

    printf("\ngeometric means at each level of kernels\n%-12s", "");
    for (int k = 0; k < LEVELS_KINDS; k++)
        printf(" %12s", l->name[k]);
    for (int s = 0; s < l->count; s++) {
        printf("\n%12s", result_size(l->kib[s], size));
        for (int k = 0; k < LEVELS_KINDS; k++)
            printf(" %12.2f", l->mean[s][k]);
    }
    printf("\n");
}
