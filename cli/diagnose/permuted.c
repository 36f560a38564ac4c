/* SPDX-License-Identifier: BSD-3-Clause */
/* The dimensions are in another order: a transpose, also inside planes. */
#include "cli/diagnose/hypothesis.h"

void each_permutation(uint32_t rank, void (*use)(void *context, const uint8_t *order),
                      void *context)
{
    uint8_t order[MLI_MAX_RANK] = {0};

    /* Counts through all numbers with `rank` digits below `rank`; the identity is 0, 1, 2, 3. */
    for (uint32_t number = 0; number < 256; number++) {
        uint32_t used = 0, same = 0, rest = number;

        for (uint32_t d = 0; d < rank; d++, rest /= MLI_MAX_RANK) {
            order[d] = (uint8_t)(rest % MLI_MAX_RANK);
            used |= 1u << order[d];
            same += order[d] == d;
        }
        if (rest == 0 && used == (1u << rank) - 1 && same < rank)
            use(context, order);
    }
}

struct request {
    const struct hypothesis *self;
    struct proposals *proposals;
    bool source;
};

static void propose_order(void *context, const uint8_t *order)
{
    const struct request *request = context;
    const struct elements *wanted = request->proposals->subject->wanted;

    for (uint32_t d = 0; d < wanted->rank && !request->source; d++) {
        if (wanted->shape[order[d]] != wanted->shape[d])
            return;
    }
    struct map *map = &proposals_add(request->proposals, request->self, request->source)->map;
    for (uint32_t d = 0; d < map->rank; d++)
        map->axis[d] = order[map->axis[d]];
}

static void propose(const struct hypothesis *self, struct proposals *proposals)
{
    for (int source = proposals_last_reference(proposals); source >= 0; source--) {
        struct request request = {self, proposals, source};

        each_permutation(proposals->subject->wanted->rank, propose_order, &request);
    }
}

const struct hypothesis hypothesis_permuted = {
    .name = "permuted", .propose = propose, .predict = mapped_predict, .describe = mapped_describe};
