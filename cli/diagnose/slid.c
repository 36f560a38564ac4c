/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows slide: a stride is wrong by a few elements, or the first element is. */
#include <inttypes.h>

#include "cli/diagnose/hypothesis.h"

enum { SLIDE_MAX = 8, FIRST = MLI_MAX_RANK, SLIDE };

/* Adds a candidate with the strides of packed elements; number[d] is the stride of dimension d. */
static struct candidate *propose_packed(const struct hypothesis *self, struct proposals *proposals,
                                        int64_t slide)
{
    struct candidate *candidate = proposals_add(proposals, self, false);
    const struct elements *wanted = proposals->subject->wanted;
    int64_t stride = 1;

    for (uint32_t d = wanted->rank; d-- > 0; stride *= wanted->shape[d])
        candidate->number[d] = stride;
    candidate->number[SLIDE] = slide;
    return candidate;
}

static void propose(const struct hypothesis *self, struct proposals *proposals)
{
    const struct elements *wanted = proposals->subject->wanted;

    if (elements_count(wanted) > INT64_MAX / UINT32_MAX) /* no overflow in predict() */
        return;
    for (int64_t slide = -SLIDE_MAX; slide <= SLIDE_MAX; slide++) {
        if (slide == 0)
            continue;
        for (uint32_t d = 0; d + 1 < wanted->rank; d++) {
            if (wanted->shape[d] > 1)
                propose_packed(self, proposals, slide)->number[d] += slide;
        }
        if (wanted->rank > 1) /* of rank 1, shifted.c proposes it */
            propose_packed(self, proposals, slide)->number[FIRST] = slide;
    }
}

_Static_assert((int)SLIDE < (int)CANDIDATE_NUMBERS, "a candidate has all numbers");

static bool predict(const struct subject *subject, const struct candidate *candidate,
                    const struct element_at *element, uint32_t *word)
{
    const struct elements *wanted = subject->wanted;
    const uint64_t count = elements_count(wanted);
    int64_t index = candidate->number[FIRST];
    uint32_t place[MLI_MAX_RANK];

    for (uint32_t d = 0; d < wanted->rank; d++)
        index += element->at[d] * candidate->number[d];
    if (index < 0 || (uint64_t)index >= count)
        return false;
    elements_place(wanted, (uint64_t)index, place);
    *word = elements_word(wanted, place);
    return true;
}

static void describe(const struct subject *subject, const struct candidate *candidate,
                     struct phrase *phrase)
{
    const int64_t slide = candidate->number[SLIDE];
    int64_t stride = 1;

    for (uint32_t d = subject->wanted->rank; d-- > 0; stride *= subject->wanted->shape[d]) {
        if (candidate->number[d] == stride)
            continue;
        phrase_add(phrase,
                   "that of %s with a stride of %" PRId64 " instead of %" PRId64
                   " elements in dimension %" PRIu32 ": rows slide, wrong mem_stride?",
                   subject->wanted_name, candidate->number[d], stride, d);
        return;
    }
    phrase_add(phrase, "that of %s %" PRId64 " element%s %s: wrong address?", subject->wanted_name,
               slide < 0 ? -slide : slide, slide == 1 || slide == -1 ? "" : "s",
               slide < 0 ? "before it" : "after it");
}

const struct hypothesis hypothesis_slid = {
    .name = "slid", .propose = propose, .predict = predict, .describe = describe};
