/* SPDX-License-Identifier: BSD-3-Clause */
/* The dimensions are in another order, and the elements follow one another in the wanted shape. */
#include <inttypes.h>

#include "cli/diagnose/hypothesis.h"

struct request {
    const struct hypothesis *self;
    struct proposals *proposals;
};

static void propose_order(void *context, const uint8_t *order)
{
    const struct request *request = context;
    const struct elements *wanted = request->proposals->subject->wanted;
    bool same = true;

    for (uint32_t d = 0; d < wanted->rank; d++)
        same = same && wanted->shape[order[d]] == wanted->shape[d];
    if (same) /* permuted.c proposes it */
        return;
    struct candidate *candidate = proposals_add(request->proposals, request->self, false);
    for (uint32_t d = 0; d < wanted->rank; d++)
        candidate->number[d] = order[d];
}

static void propose(const struct hypothesis *self, struct proposals *proposals)
{
    struct request request = {self, proposals};

    each_permutation(proposals->subject->wanted->rank, propose_order, &request);
}

static bool predict(const struct subject *subject, const struct candidate *candidate,
                    const struct element_at *element, uint32_t *word)
{
    const struct elements *wanted = subject->wanted;
    uint32_t place[MLI_MAX_RANK];
    uint64_t index = element->index;

    for (uint32_t d = wanted->rank; d-- > 0;) {
        const uint32_t extent = wanted->shape[candidate->number[d]];

        place[candidate->number[d]] = (uint32_t)(index % extent);
        index /= extent;
    }
    *word = elements_word(wanted, place);
    return true;
}

static void describe(const struct subject *subject, const struct candidate *candidate,
                     struct phrase *phrase)
{
    const uint32_t rank = subject->wanted->rank;

    phrase_add(phrase, "that of %s in the order of dimensions ", subject->wanted_name);
    for (uint32_t d = 0; d < rank; d++)
        phrase_add(phrase, "%s%" PRId64, d ? ", " : "(", candidate->number[d]);
    phrase_add(phrase, "), read as if the shape were still ");
    for (uint32_t d = 0; d < rank; d++)
        phrase_add(phrase, "%s%" PRIu32, d ? ", " : "(", subject->wanted->shape[d]);
    phrase_add(phrase, "): wrong perm_dim or wrong layout?");
}

const struct hypothesis hypothesis_relaid = {
    .name = "relaid", .propose = propose, .predict = predict, .describe = describe};
