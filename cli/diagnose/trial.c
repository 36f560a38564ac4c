/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/diagnose/hypothesis.h"
#include "cli/term/cancel.h"

enum {
    EQUAL_SAMPLE = 64,      /* equal elements that a sample has at most */
    CANCEL_EVERY = 1 << 16, /* elements between two looks for ^C */
    EVIDENCE_BITS = 18,     /* information that a diagnosis needs */
    MISSES_ALLOWED = 4      /* wrong predictions in a sample that never refuse a candidate */
};

static bool is_in_region(const struct subject *subject, const struct candidate *candidate,
                         const uint32_t *at)
{
    for (uint32_t d = 0; d < subject->got->rank; d++) {
        if (at[d] < candidate->low[d] || at[d] > candidate->high[d])
            return false;
    }
    return true;
}

static void try_element(const struct subject *subject, const struct candidate *candidate,
                        const uint32_t *at, uint64_t index, struct tally *tally)
{
    const uint32_t got = elements_word(subject->got, at);
    const struct element_at element = {at, index, elements_word(subject->wanted, at)};
    const bool differs = got != element.wanted;
    uint32_t word;

    tally->differing += differs;
    if (!is_in_region(subject, candidate, at) ||
        !candidate->hypothesis->predict(subject, candidate, &element, &word)) {
        tally->silent++;
        return;
    }
    const bool right = word == (candidate->predicts_wanted ? element.wanted : got);
    tally->predicted += differs;
    tally->explained += differs && right;
    tally->informative += differs && right && word != 0;
    tally->contradicted += !differs && !right;
}

static uint64_t misses_of(const struct tally *tally)
{
    return tally->predicted - tally->explained + tally->contradicted;
}

bool trial_sample(const struct subject *subject, const struct candidate *candidate,
                  struct tally *tally)
{
    const struct differing *differing = subject->differing;
    const uint64_t count = elements_count(subject->got);
    uint32_t at[MLI_MAX_RANK];

    *tally = (struct tally){0};
    for (uint32_t i = 0; i < differing->sample_count; i++) {
        elements_place(subject->got, differing->sample[i], at);
        try_element(subject, candidate, at, differing->sample[i], tally);
        if (misses_of(tally) > MISSES_ALLOWED + differing->sample_count / 32)
            return false;
    }
    for (uint32_t i = 0; i < EQUAL_SAMPLE && i < count; i++) {
        const uint64_t index = elements_sample(count, EQUAL_SAMPLE, i);

        elements_place(subject->got, index, at);
        try_element(subject, candidate, at, index, tally);
    }
    return tally->explained > 0 && 2 * tally->predicted >= tally->differing &&
           misses_of(tally) <= MISSES_ALLOWED + tally->predicted / 32;
}

/* Returns whether the explained elements have more information than an accident explains. */
static bool is_evident(const struct subject *subject, const struct candidate *candidate,
                       const struct tally *tally)
{
    if (candidate->hypothesis == &hypothesis_stale)
        return (double)tally->explained * subject->bits >= EVIDENCE_BITS + candidate->cost;
    return (double)tally->informative * subject->bits >= EVIDENCE_BITS + candidate->cost;
}

bool trial_whole(const struct subject *subject, const struct candidate *candidate,
                 struct tally *tally)
{
    uint32_t at[MLI_MAX_RANK] = {0};
    uint64_t index = 0;
    const uint64_t misses_max = subject->differing->count / 50;

    *tally = (struct tally){0};
    do {
        try_element(subject, candidate, at, index++, tally);
        if (misses_of(tally) > misses_max || (index % CANCEL_EVERY == 0 && cancel_requested()))
            return false;
    } while (elements_next(subject->got, at));
    return 2 * tally->predicted >= tally->differing &&
           100 * (tally->predicted - tally->explained) <= tally->predicted &&
           100 * tally->contradicted <= tally->explained && is_evident(subject, candidate, tally);
}
