/* SPDX-License-Identifier: BSD-3-Clause */
/* The output has the elements of the source, or of the output before the job, as they were. */
#include "cli/diagnose/hypothesis.h"

enum { BEFORE = 0 };

static void propose(const struct hypothesis *self, struct proposals *proposals)
{
    const struct subject *subject = proposals->subject;

    if (subject->before)
        proposals_add(proposals, self, false)->number[BEFORE] = true;
    if (subject->source && !subject->moved_as_planned)
        proposals_add(proposals, self, false)->number[BEFORE] = false;
}

static bool predict(const struct subject *subject, const struct candidate *candidate,
                    const struct element_at *element, uint32_t *word)
{
    uint32_t place[MLI_MAX_RANK];

    if (candidate->number[BEFORE]) {
        *word = elements_word(subject->before, element->at);
        return elements_word(subject->got, element->at) != element->wanted; /* others are written */
    }
    if (element->index >= elements_count(subject->source))
        return false;
    elements_place(subject->source, element->index, place);
    *word = elements_word(subject->source, place);
    return true;
}

static void describe(const struct subject *subject, const struct candidate *candidate,
                     struct phrase *phrase)
{
    (void)subject;
    phrase_add(phrase, candidate->number[BEFORE]
                           ? "the value that the output had before the job: not written?"
                           : "that of src in the order of its elements: not moved, only copied?");
}

const struct hypothesis hypothesis_unmoved = {
    .name = "unmoved", .propose = propose, .predict = predict, .describe = describe};
