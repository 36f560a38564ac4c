/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/bench_result.h"

#include <stdio.h>

int result_best(const struct result_list *list, const struct result *r)
{
    int best = -1;

    for (int i = 0; i < list->peers.count; i++) {
        if (r->peer_outcome[i] == RACE_TIMED &&
            (best < 0 || r->peer[i].median < r->peer[best].median))
            best = i;
    }
    return best;
}

const struct result *result_find(const struct result_list *list, int number, uint32_t elem,
                                 uint32_t kib)
{
    for (int i = 0; i < list->count; i++) {
        const struct result *r = &list->at[i];

        if (r->number == number && r->elem == elem && r->kib == kib && r->ours.count > 0)
            return r;
    }
    return NULL;
}

bool result_has_goal(const struct result *r)
{
    return r->kib == 384 || r->kib == 8192 || r->kib == 131072;
}

bool result_listed(const struct result *r)
{
    return r->number < CASE_LISTED;
}

const char *result_size(uint32_t kib, char name[RESULT_NAME])
{
    if (kib >= 1024 && kib % 1024 == 0)
        snprintf(name, RESULT_NAME, "%u MiB", kib / 1024);
    else
        snprintf(name, RESULT_NAME, "%u KiB", kib);
    return name;
}

const char *result_name(const struct result *r, char name[RESULT_NAME])
{
    char size[RESULT_NAME];

    snprintf(name, RESULT_NAME, "%-32s %u-byte %8.16s", r->kind->name, r->elem,
             result_size(r->kib, size));
    return name;
}
