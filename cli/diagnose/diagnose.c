/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/diagnose.h"
#include "cli/diagnose/map.h"
#include "cli/term/cancel.h"

enum { SAMPLE = 256 };

/* Sets the map from the output to the source. Returns false if a coordinate is too large. */
static bool set_map(struct map *map, const struct elements *source, const mli_mov_cfg_t *cfg)
{
    *map = map_identity(source->rank);
    map->outside = MAP_ZERO;
    for (uint32_t i = 0; i < source->rank; i++) {
        const uint32_t d = cfg->perm_dim[i];
        int64_t skipped;

        if (__builtin_mul_overflow((int64_t)cfg->sub_sample_step[d], (int64_t)cfg->dst_offset[i],
                                   &skipped))
            return false;
        map->axis[d] = (uint8_t)i;
        map->step[d] = cfg->sub_sample_step[d];
        map->first[d] = (int64_t)cfg->offset[d] - cfg->padding_pre[d] - skipped;
    }
    return true;
}

/* Returns whether the move writes the element at `at`. */
static bool is_written(const struct diagnose_move *move, const uint32_t *at)
{
    for (uint32_t i = 0; i < move->source->rank; i++) {
        if (at[i] < move->cfg->dst_offset[i] || at[i] >= move->result_shape[i])
            return false;
    }
    return true;
}

/*
 * Computes the element that a move writes at `at`. subject->source must be known. Returns false if
 * the move writes nothing there.
 */
static bool subject_moves(const struct subject *subject, const struct diagnose_move *move,
                          const uint32_t *at, uint32_t *word)
{
    return is_written(move, at) && map_word(&subject->move, subject->source, at, word);
}

/* Returns whether nearly all sampled differing elements of the result have the values that the
 * move gives them. */
static bool is_as_planned(const struct subject *subject, const struct diagnose_move *move)
{
    const struct differing *differing = subject->differing;
    uint32_t right = 0;

    for (uint32_t i = 0; i < differing->sample_count; i++) {
        uint32_t at[MLI_MAX_RANK], word;

        elements_place(subject->got, differing->sample[i], at);
        right += subject_moves(subject, move, at, &word) && word == elements_word(subject->got, at);
    }
    return (uint64_t)right * 100 >= (uint64_t)differing->sample_count * 99;
}

static int compare_words(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Estimates how much information one value has, in bits: takes a sample of `wanted` and counts
 * pairs of equal values. Leaves out zeros: they often come from a padding, and are no evidence. */
static double find_bits(const struct subject *subject)
{
    const uint64_t count = elements_count(subject->wanted);
    uint32_t words[SAMPLE], taken = 0, at[MLI_MAX_RANK];
    uint64_t equal = 0;

    for (uint32_t i = 0; i < SAMPLE && i < count; i++) {
        elements_place(subject->wanted, elements_sample(count, SAMPLE, i), at);
        words[taken] = elements_word(subject->wanted, at);
        taken += words[taken] != 0;
    }
    qsort(words, taken, sizeof(words[0]), compare_words);
    for (uint32_t i = 0, run = 0; i < taken; i++) {
        run = i > 0 && words[i] == words[i - 1] ? run + 1 : 0;
        equal += run;
    }
    if (taken < 2)
        return 0;
    const double pairs = (double)taken * (taken - 1) / 2;
    const double bits = -log2(((double)equal + 1) / (pairs + 1));
    return fmin(bits, log2((double)count));
}

/*
 * Describes a difference; borrows everything. Leaves the source out if its rank or dtype is not
 * that of the result.
 */
static void subject_init(struct subject *subject, const struct diagnose_request *request,
                         const struct differing *differing)
{
    const struct diagnose_move *move = request->move;

    *subject = (struct subject){.got = request->got,
                                .wanted = request->wanted,
                                .got_name = request->got_name,
                                .wanted_name = request->wanted_name,
                                .differing = differing};
    subject->bits = find_bits(subject);
    if (!move)
        return;
    subject->before = move->before && move->before->rank > 0 ? move->before : NULL;
    if (!move->source || move->source->rank != request->got->rank ||
        move->source->dtype != request->got->dtype ||
        !set_map(&subject->move, move->source, move->cfg))
        return;
    subject->source = move->source;
    subject->cfg = move->cfg;
    subject->moved_as_planned = is_as_planned(subject, move);
}

enum {
    EQUAL_SAMPLE = 64,      /* number of equal elements on which candidates are tried first */
    CANCEL_EVERY = 1 << 16, /* elements between two checks for ^C */
    EVIDENCE_BITS = 18,     /* bits of information that a diagnosis needs */
    MISSES_ALLOWED = 4      /* wrong predictions in a sample that are always accepted */
};

/* How well a candidate predicts the wrong tensor. */
struct tally {
    uint64_t differing;    /* elements that differ */
    uint64_t predicted;    /* differing elements with a prediction */
    uint64_t explained;    /* differing elements that have the predicted value */
    uint64_t informative;  /* explained elements that are not 0 */
    uint64_t contradicted; /* equal elements for which another value was predicted */
    uint64_t silent;       /* elements without a prediction */
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

/*
 * Checks the predictions of a candidate on the sample. Returns whether the candidate is worth a
 * full check.
 */
static bool trial_sample(const struct subject *subject, const struct candidate *candidate,
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

/* Returns whether the candidate explains too many elements to do so by accident. */
static bool is_evident(const struct subject *subject, const struct candidate *candidate,
                       const struct tally *tally)
{
    if (candidate->hypothesis->zero_is_value)
        return (double)tally->explained * subject->bits >= EVIDENCE_BITS + candidate->cost;
    return (double)tally->informative * subject->bits >= EVIDENCE_BITS + candidate->cost;
}

/*
 * Checks the predictions on all elements. Returns whether the candidate explains the difference:
 * it predicts at least 99 % of the differing elements for which it has a prediction, contradicts
 * few equal elements, and cannot be a coincidence. ^C ends the check.
 */
static bool trial_whole(const struct subject *subject, const struct candidate *candidate,
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

enum { LOOKED_UP_MAX = LOOKUP_MAX / 2 };

/* Writes "src[0, 1]". */
static void add_place(struct phrase *phrase, const struct subject *subject, const uint32_t *at)
{
    char place[DIFFERING_TEXT_MAX];

    phrase_add(phrase, "src%s", differing_place(place, subject->source->rank, at));
}

/* Adds a phrase: from which element of the source the move takes the element at `at`. */
static void add_moved(struct phrase *phrase, const struct subject *subject, const uint32_t *at)
{
    uint32_t place[MLI_MAX_RANK];

    if (map_place(&subject->move, subject->source, at, place))
        add_place(phrase, subject, place);
    else
        phrase_add(phrase, "a zero of the padding");
}

/* Adds the origin of a value: the element from which the move takes this value, else the only
 * element of the source with this value. Returns false if the origin is not known. */
static bool add_origin(struct phrase *phrase, const struct subject *subject,
                       const struct diagnose_move *move, const uint32_t *at, uint32_t word,
                       const struct lookup *lookup, uint32_t found)
{
    uint32_t moved;

    if (subject_moves(subject, move, at, &moved) && moved == word)
        add_moved(phrase, subject, at);
    else if (lookup_unique(lookup, found))
        add_place(phrase, subject, lookup->value[found].at);
    else
        return false;
    return true;
}

static void set_origin(struct differing_element *element, const struct subject *subject,
                       const struct diagnose_move *move, const struct lookup *lookup, uint32_t i)
{
    struct phrase phrase = phrase_init(element->origin, sizeof(element->origin));
    char text[DIFFERING_ORIGIN_MAX];
    struct phrase wanted = phrase_init(text, sizeof(text));

    phrase_add(&phrase, "from ");
    if (!add_origin(&phrase, subject, move, element->at, elements_word(subject->got, element->at),
                    lookup, 2 * i))
        phrase_init(element->origin, sizeof(element->origin));
    if (add_origin(&wanted, subject, move, element->at, elements_word(subject->wanted, element->at),
                   lookup, 2 * i + 1)) {
        phrase.length = *element->origin ? phrase.length : 0;
        phrase_add(&phrase, "%s%s", *element->origin ? ", not " : "not from ", text);
    }
}

void diagnose_origins(const struct diagnose_request *request, struct differing *differing)
{
    struct subject subject;
    struct lookup lookup = {0};
    const uint32_t count =
        differing->first_count < LOOKED_UP_MAX ? differing->first_count : LOOKED_UP_MAX;

    subject_init(&subject, request, differing);
    if (!subject.source)
        return;
    for (uint32_t i = 0; i < count; i++) {
        lookup_add(&lookup, elements_word(request->got, differing->first[i].at));
        lookup_add(&lookup, elements_word(request->wanted, differing->first[i].at));
    }
    lookup_run(&lookup, subject.source);
    for (uint32_t i = 0; i < count; i++)
        set_origin(&differing->first[i], &subject, request->move, &lookup, i);
}

enum {
    SURVIVORS_MAX = 12,     /* candidates that are checked on all elements */
    SURVIVORS_OF_LARGE = 4, /* the same for tensors with more elements than LARGE */
    LARGE = 1 << 24
};

struct survivor {
    const struct candidate *candidate;
    struct tally tally;
};

/*
 * Inserts a candidate into the list of the best ones. The list is sorted by the number of elements
 * that a candidate explains; of two equal candidates, the one that was added first comes first.
 */
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

/* Returns whether two candidates differ only in the order of dimensions, with one reference. */
static bool is_rival(const struct candidate *a, const struct candidate *b)
{
    return a->hypothesis == b->hypothesis && a->hypothesis->has_rivals &&
           a->reference == b->reference;
}

static bool is_better(const struct survivor *a, const struct survivor *b)
{
    if (a->tally.explained != b->tally.explained)
        return a->tally.explained > b->tally.explained;
    return a->tally.contradicted < b->tally.contradicted;
}

/* Checks the best candidates of the sample on all elements. Returns the best one, or null. Sets
 * *rival to a candidate that explains the difference equally well with another order of dimensions,
 * or to null. */
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
        phrase_add(&phrase, "; the others would come from outside the source");
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
    for (size_t i = 0; i < HYPOTHESES; i++) {
        proposals->hypothesis = &hypotheses[i];
        hypotheses[i].propose(proposals);
    }
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
