/* SPDX-License-Identifier: BSD-3-Clause */
/* The tensor is shifted by a few elements along a dimension, for example by a wrong padding. */
#include "cli/diagnose/hypothesis.h"

enum { SHIFT_MAX = 4 };

static void propose_shift(const struct hypothesis *self, struct proposals *proposals, bool source,
                          uint32_t d, int64_t shift)
{
    static const enum map_outside of_wanted[] = {MAP_ZERO, MAP_WRAP, MAP_EDGE, MAP_UNKNOWN};

    for (size_t i = 0; i < (source ? 1 : sizeof(of_wanted) / sizeof(of_wanted[0])); i++) {
        struct map *map = &proposals_add(proposals, self, source)->map;

        map->first[d] += shift;
        if (!source)
            map->outside = of_wanted[i];
    }
}

static void propose_shifts(const struct hypothesis *self, struct proposals *proposals, bool source,
                           uint32_t d)
{
    const struct subject *subject = proposals->subject;
    const struct elements *reference = source ? subject->source : subject->wanted;

    for (int64_t shift = 1; shift <= SHIFT_MAX && shift < reference->shape[d]; shift++) {
        propose_shift(self, proposals, source, d, shift);
        propose_shift(self, proposals, source, d, -shift);
    }
}

static void propose(const struct hypothesis *self, struct proposals *proposals)
{
    for (int source = proposals_last_reference(proposals); source >= 0; source--) {
        for (uint32_t d = 0; d < proposals->subject->wanted->rank; d++)
            propose_shifts(self, proposals, source, d);
    }
}

const struct hypothesis hypothesis_shifted = {
    .name = "shifted", .propose = propose, .predict = mapped_predict, .describe = mapped_describe};
