/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/diagnose/diagnose.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/hypothesis.h"
#include "cli/diagnose/subject.h"
#include "cli/term/cancel.h"

enum {
    SURVIVORS_MAX = 12,     /* candidates that are checked on all elements */
    SURVIVORS_OF_LARGE = 4, /* of tensors with more elements than LARGE */
    LARGE = 1 << 24
};

/* The hypotheses; of two that explain equally much, the first one is the diagnosis. */
static const struct hypothesis *const all[] = {
    &hypothesis_permuted, &hypothesis_reversed, &hypothesis_shifted, &hypothesis_repeated,
    &hypothesis_recoded,  &hypothesis_relaid,   &hypothesis_slid,    &hypothesis_fitted,
    &hypothesis_unmoved,  &hypothesis_stale};

struct survivor {
    const struct candidate *candidate;
    struct tally tally;
};

struct candidate *proposals_add(struct proposals *proposals, const struct hypothesis *hypothesis,
                                bool source)
{
    const struct subject *subject = proposals->subject;
    struct candidate *candidate = &proposals->list[proposals->count];

    if (proposals->count + 1 < PROPOSALS_MAX)
        proposals->count++;
    *candidate =
        (struct candidate){.hypothesis = hypothesis,
                           .reference = source ? subject->source : subject->wanted,
                           .predicts_wanted = source && subject->moved_as_planned,
                           .map = source ? subject->move : map_identity(subject->wanted->rank)};
    for (uint32_t d = 0; d < subject->got->rank; d++)
        candidate->high[d] = subject->got->shape[d] - 1;
    return candidate;
}

/* Keeps the survivors sorted by explained elements of the sample, equal ones in order. */
static size_t insert(struct survivor *survivors, size_t count, size_t max,
                     const struct survivor *added)
{
    size_t place = count;

    while (place > 0 && survivors[place - 1].tally.explained < added->tally.explained)
        place--;
    if (place == max)
        return count;
    const size_t kept = count < max ? count : max - 1;
    memmove(&survivors[place + 1], &survivors[place], (kept - place) * sizeof(*survivors));
    survivors[place] = *added;
    return kept + 1;
}

static size_t find_survivors(const struct proposals *proposals, struct survivor *survivors)
{
    const struct subject *subject = proposals->subject;
    const size_t max = elements_count(subject->got) > LARGE ? SURVIVORS_OF_LARGE : SURVIVORS_MAX;
    size_t count = 0;

    for (size_t i = 0; i < proposals->count; i++) {
        struct survivor survivor = {.candidate = &proposals->list[i]};

        if (trial_sample(subject, survivor.candidate, &survivor.tally))
            count = insert(survivors, count, max, &survivor);
    }
    return count;
}

/* Returns whether two candidates are two orders of the dimensions of one reference. */
static bool is_rival(const struct candidate *a, const struct candidate *b)
{
    return a->hypothesis == b->hypothesis && a->hypothesis == &hypothesis_permuted &&
           a->reference == b->reference;
}

static bool is_better(const struct survivor *a, const struct survivor *b)
{
    if (a->tally.explained != b->tally.explained)
        return a->tally.explained > b->tally.explained;
    return a->tally.contradicted < b->tally.contradicted;
}

/* Checks the survivors on all elements. Returns the best one, or null; *rival: another order of
 * dimensions that explains the difference as well, or null. */
static const struct survivor *choose(const struct subject *subject, struct survivor *survivors,
                                     size_t count, const struct survivor **rival)
{
    const struct survivor *best = NULL;

    *rival = NULL;
    for (size_t i = 0; i < count; i++) {
        struct survivor *survivor = &survivors[i];
        const bool rivals = best && is_rival(best->candidate, survivor->candidate);

        if (best && best->tally.explained == subject->differing->count && !rivals)
            continue;
        if (!trial_whole(subject, survivor->candidate, &survivor->tally))
            continue;
        if (!best || is_better(survivor, best))
            best = survivor;
        else if (rivals && survivor->tally.explained == best->tally.explained &&
                 !map_same(&best->candidate->map, &survivor->candidate->map, subject->got->shape))
            *rival = survivor;
    }
    return best;
}

static void describe(const struct subject *subject, const struct survivor *best,
                     const struct survivor *rival, struct diagnosis *diagnosis)
{
    const struct candidate *candidate = best->candidate;
    const struct tally *tally = &best->tally;
    struct phrase phrase = phrase_init(diagnosis->text, sizeof(diagnosis->text));

    diagnosis->kind = candidate->hypothesis->name;
    diagnosis->explained = tally->explained;
    if (tally->explained < tally->differing)
        phrase_add(&phrase, "%" PRIu64 " of %" PRIu64 " wrong values are ", tally->explained,
                   tally->differing);
    else
        phrase_add(&phrase, "every %svalue%s%s is ",
                   tally->silent + tally->contradicted > 0 ? "wrong " : "",
                   subject->got_name ? " of " : "", subject->got_name ? subject->got_name : "");
    candidate->hypothesis->describe(subject, candidate, &phrase);
    if (tally->predicted < tally->differing && tally->explained == tally->predicted)
        phrase_add(&phrase, "; the others would be from beyond its edge");
    if (!rival)
        return;
    phrase_add(&phrase, " or: ");
    rival->candidate->hypothesis->describe(subject, rival->candidate, &phrase);
}

int diagnose(const struct diagnose_request *request, const struct differing *differing,
             struct diagnosis *diagnosis)
{
    struct subject subject;
    struct survivor survivors[SURVIVORS_MAX + 1];
    const struct survivor *rival;
    struct proposals *proposals = malloc(sizeof(*proposals));

    *diagnosis = (struct diagnosis){.differing = differing->count};
    if (!proposals)
        return -1;
    subject_init(&subject, request, differing);
    proposals->subject = &subject;
    proposals->count = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        all[i]->propose(all[i], proposals);
    const size_t count = find_survivors(proposals, survivors);
    const struct survivor *best = choose(&subject, survivors, count, &rival);
    if (best)
        describe(&subject, best, rival, diagnosis);
    if (!cancel_requested()) {
        struct phrase places = phrase_init(diagnosis->places, sizeof(diagnosis->places));

        striped_add(&subject, &places);
    }
    free(proposals);
    return 0;
}

void diagnosis_json(struct jsonw *w, const struct diagnosis *diagnosis)
{
    if (!*diagnosis->text && !*diagnosis->places)
        return;
    jsonw_object_begin(w, "diagnosis");
    if (*diagnosis->text) {
        jsonw_string(w, "kind", diagnosis->kind);
        jsonw_uint(w, "explained", diagnosis->explained);
        jsonw_string(w, "text", diagnosis->text);
    }
    if (*diagnosis->places)
        jsonw_string(w, "places", diagnosis->places);
    jsonw_object_end(w);
}
