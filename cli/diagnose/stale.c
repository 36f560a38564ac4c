/* SPDX-License-Identifier: BSD-3-Clause */
/* All wrong elements have one value: zeros, or the former bytes of memory that nobody wrote. */
#include <string.h>

#include "cli/diagnose/hypothesis.h"

enum { VALUE = 0, COST = 8 };

/* One value for all wrong elements is no evidence among elements with two values. */
static void propose(const struct hypothesis *self, struct proposals *proposals)
{
    const struct subject *subject = proposals->subject;
    uint32_t at[MLI_MAX_RANK];

    if (subject->got->dtype->kind == 'b')
        return;
    elements_place(subject->got, subject->differing->sample[0], at);
    struct candidate *candidate = proposals_add(proposals, self, false);
    candidate->number[VALUE] = elements_word(subject->got, at);
    memcpy(candidate->low, subject->differing->low, sizeof(candidate->low));
    memcpy(candidate->high, subject->differing->high, sizeof(candidate->high));
    candidate->cost = candidate->number[VALUE] ? COST : 0;
}

/* Predicts the value for differing elements only: equal elements may have other values. */
static bool predict(const struct subject *subject, const struct candidate *candidate,
                    const struct element_at *element, uint32_t *word)
{
    *word = (uint32_t)candidate->number[VALUE];
    return elements_word(subject->got, element->at) != element->wanted;
}

static void describe(const struct subject *subject, const struct candidate *candidate,
                     struct phrase *phrase)
{
    char text[DTYPE_TEXT_MAX];
    uint32_t at[MLI_MAX_RANK];

    elements_place(subject->got, subject->differing->sample[0], at);
    dtype_text(subject->got->dtype, elements_at(subject->got, at), text);
    phrase_add(phrase,
               candidate->number[VALUE] ? "%s: not written, former bytes of the memory?"
                                        : "%s: not written, or zeros written there?",
               text);
}

const struct hypothesis hypothesis_stale = {
    .name = "stale", .propose = propose, .predict = predict, .describe = describe};
