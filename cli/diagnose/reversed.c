/* SPDX-License-Identifier: BSD-3-Clause */
/* A dimension is backwards, or has another step. */
#include "cli/diagnose/hypothesis.h"

enum { STEP_MAX = 4 };

static void propose_reversal(const struct hypothesis *self, struct proposals *proposals,
                             bool source, uint32_t d)
{
    struct map *map = &proposals_add(proposals, self, source)->map;
    const uint32_t extent = proposals->subject->got->shape[map->axis[d]];
    int64_t last;

    if (__builtin_mul_overflow(map->step[d], (int64_t)extent - 1, &last) ||
        __builtin_add_overflow(map->first[d], last, &map->first[d]))
        return;
    map->step[d] = -map->step[d];
}

static void propose_steps(const struct hypothesis *self, struct proposals *proposals, uint32_t d)
{
    for (int64_t step = 1; step <= STEP_MAX; step++)
        proposals_add(proposals, self, true)->map.step[d] = step;
}

static void propose(const struct hypothesis *self, struct proposals *proposals)
{
    for (int source = proposals_last_reference(proposals); source >= 0; source--) {
        for (uint32_t d = 0; d < proposals->subject->wanted->rank; d++) {
            propose_reversal(self, proposals, source, d);
            if (source)
                propose_steps(self, proposals, d);
        }
    }
}

const struct hypothesis hypothesis_reversed = {
    .name = "reversed", .propose = propose, .predict = mapped_predict, .describe = mapped_describe};
