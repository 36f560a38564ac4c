/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/leaf/leaf_layout.h"

#include "tests/support/rng.h"

size_t layout_span(const struct layout *l, size_t count)
{
    size_t span = 0;

    if (!l->table)
        return (l->begin + count - 1) / l->inner * l->outer_step +
               ((l->begin + count < l->inner ? l->begin + count : l->inner) - 1) * l->step +
               l->slack;
    for (size_t i = 0; i < count; i++)
        span = l->table[i] > span ? l->table[i] : span;
    return span;
}

void layout_fill(const struct layout *l, size_t *table, size_t count)
{
    struct rng rng = {l->seed};

    for (size_t i = 0; i < count; i++)
        table[i] = layout_at(l, l->begin + i) + rng_below(&rng, (uint32_t)l->slack + 1);
    for (size_t i = l->seed ? count - 1 : 0; i > 0; i--) {
        const size_t other = rng_below(&rng, (uint32_t)i + 1), at = table[i];

        table[i] = table[other];
        table[other] = at;
    }
}
