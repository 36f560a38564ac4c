/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/bench_plan.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool plan_wants(const struct options *o, const struct bench_case *c)
{
    for (int i = 0; i < o->text_count; i++) {
        if (strstr(c->name, o->text[i]))
            return true;
    }
    return o->text_count == 0;
}

/* Measuring all listed cells of the four default sizes takes about six minutes. */
static double budget_of(size_t bytes)
{
    return bytes >= RACE_COLD ? 2.2 : bytes >= (size_t)4 << 20 ? 0.8 : bytes > 65536 ? 0.5 : 0.3;
}

void plan_rounds(const struct options *o, struct race *r, size_t bytes, enum plan_kind kind)
{
    const double share = (kind == PLAN_LISTED ? 1.0 : 0.4) * (o->quick ? 0.1 : 1.0);

    r->budget = budget_of(bytes) * 1e9 * share;
    r->rounds_min = kind == PLAN_LISTED ? 5 : 3;
    if (o->quick)
        r->rounds_min = bytes >= RACE_COLD ? 1 : 3;
    r->rounds_max = 101;
    if (o->rounds)
        r->rounds_min = r->rounds_max = o->rounds;
}

void plan_room(const struct options *o, const struct case_list *cases, size_t *src, size_t *dst)
{
    *src = *dst = 0;
    for (int i = 0; i < cases->count; i++) {
        for (int s = 0; plan_wants(o, &cases->at[i]) && s < o->kib_count; s++) {
            for (int e = 0; e < o->elem_count; e++) {
                struct job j;

                job_init(&j, &cases->at[i], o->elem[e], (size_t)o->kib[s] * 1024);
                *src = j.src_bytes > *src ? j.src_bytes : *src;
                *dst = j.dst_bytes > *dst ? j.dst_bytes : *dst;
            }
        }
    }
}

void plan_progress(const char *part, const char *name, uint32_t elem, uint32_t kib)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s: %u KiB, %s, %u-byte", part, kib, name, elem);
}

void plan_progress_end(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}
